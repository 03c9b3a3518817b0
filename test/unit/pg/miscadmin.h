/*
 * miscadmin.h
 *	  Nothing interrupts a test.
 */
#define CHECK_FOR_INTERRUPTS() ((void) 0)
