/*
 * eligible.c
 *	  Rule 1 of page_resident.h.
 */
#include "compat.h"

#include "resident/eligible.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"

#include "resident/rules.h"

const char *
gpuagg_resident_ineligible(Relation relation, Snapshot snapshot)
{
	if (relation->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return "the table is temporary or unlogged";
	if (!RULE(catalog, !IsCatalogRelation(relation)))
		return "the table is a catalog";
	if (!RULE(logged, !compat_relation_file_is_new(relation)))
		return "the table's file was made in this transaction";
	if (!RULE(logged, XLogIsNeeded()))
		return "\"wal_level\" is \"minimal\"";
	if (RecoveryInProgress())
		return "the server is in recovery";
	if (!IsMVCCSnapshot(snapshot) || snapshot->takenDuringRecovery)
		return "the snapshot was taken in recovery";
	if (IsolationIsSerializable())
		return "the transaction is serializable";
	if (compat_snapshots_can_be_too_old())
		return "\"old_snapshot_threshold\" is set";
	return NULL;
}
