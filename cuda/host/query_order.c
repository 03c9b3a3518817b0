/*
 * query_order.c
 *	  The window of a query: its rows kept, put in order, and its functions computed.
 */
#include "host/query_order.h"

#include <string.h>

static_assert(GPUAGG_WINDOW_UNIT == GPU_QUERY_UNIT, "chunks begin at units of places");

void
gpud_order_init(QueryOrder *order, const GpuaggWindow *window, const uint8_t *types,
				const uint8_t *columns, uint32_t ncolumns)
{
	order->window = *window;
	order->ncolumns = ncolumns;
	memcpy(order->columns, columns, ncolumns);
	gpud_rows_init(&order->kept, window->places, window->values, window->nvalues, types);
}

/* ---- places ---- */

/* Whether a function is one of the last order: those of others are kept at the rows' places. */
static bool
is_last(const QueryOrder *order, uint32_t f)
{
	return order->window.functions[f].order == order->window.norders - 1;
}

/* Whether a column is a value in the last order, or a function of another one. */
static bool
is_gathered(const QueryOrder *order, uint32_t column)
{
	uint16_t f = order->window.columns[column].function;

	return f == GPUAGG_WINDOW_NONE || !is_last(order, f);
}

/* The number of a value in an order, the one whose values are chosen; the same for the same. */
static uint16_t
gather(QueryOrder *order, OrderedSort *sort, uint16_t value, uint32_t bytes)
{
	uint32_t i = sort->first_gathered;

	while (i < order->ngathered &&
		   (order->gathered[i].value != value || order->gathered[i].bytes != bytes))
		i++;
	if (i == order->ngathered)
	{
		order->gathered[order->ngathered++] = (OrderedValue){value, bytes, 0, 0};
		sort->ngathered++;
	}
	return (uint16_t) i;
}

/* Arguments of an order's functions. */
static void
gather_arguments(QueryOrder *order, uint32_t o)
{
	OrderedSort *sort = &order->sorts[o];

	sort->first_gathered = order->ngathered;
	for (uint32_t f = 0; f < order->window.nfunctions; f++)
	{
		uint16_t value = order->window.functions[f].value;

		if (order->window.functions[f].order != o)
			continue;
		order->functions[f].gathered = value == GPUAGG_WINDOW_NONE
										   ? value
										   : gather(order, sort, value,
													gpud_rows_width(order->kept.types[value]));
	}
}

/* Chooses what is gathered; false: too much. */
static bool
choose_gathered(QueryOrder *order)
{
	const GpuaggWindow *window = &order->window;
	OrderedSort *last = &order->sorts[window->norders - 1];

	for (uint32_t o = 0; o < window->norders; o++)
		gather_arguments(order, o);
	for (uint32_t i = 0; i < order->ncolumns; i++)
	{
		uint16_t f = window->columns[i].function;

		if (!is_gathered(order, i))
			continue;
		if (last->ngathered == GPUAGG_WINDOW_COLUMNS)
			return false;
		order->column_gathered[i] = gather(order, last,
										   f != GPUAGG_WINDOW_NONE
											   ? (uint16_t) (GPUAGG_WINDOW_VALUES + f)
											   : window->columns[i].value,
										   gpud_rows_width(order->columns[i]));
	}
	return true;
}

static void
place_function(QueryOrder *order, uint32_t f, size_t *end)
{
	const GpuaggWindowFunction *function = &order->window.functions[f];
	OrderedFunction *of = &order->functions[f];
	uint64_t rows = gpud_rows_padded(order->window.places);

	of->bytes = gpud_rows_width((int) gpuagg_window_result(function));
	of->results = gpud_place(end, rows * of->bytes);
	if (function->op != GPUAGG_COUNT)
	{
		of->status = gpud_place(end, rows);
		of->valid = gpud_place(end, rows / 8);
	}
	if (function->reach != GPUAGG_REACH_ROW)
		of->reached = gpud_place(end, rows * of->bytes);
	if (function->average)
		of->counts = gpud_place(end, rows * sizeof(int64_t));
	if (!is_last(order, f))
		of->kept = gpud_place(end, rows * of->bytes);
}

/* Bitmaps of what functions keep at the rows' places: zeros at first. */
static void
place_kept_bitmaps(QueryOrder *order, size_t *end)
{
	for (uint32_t f = 0; f < order->window.nfunctions; f++)
		if (!is_last(order, f) && order->window.functions[f].op != GPUAGG_COUNT)
			order->functions[f].kept_valid = gpud_place(end,
														gpud_rows_padded(order->window.places) / 8);
}

/* Scratch of sorts, whatever the keys will be like. */
static GpuaggReason
place_sort(QueryOrder *order, size_t *end)
{
	GpuaggReason reason = GPUAGG_OK;

	for (int words = 1; words <= GPUAGG_SORT_WORDS && reason == GPUAGG_OK; words++)
	{
		GpuSort sort = {.words = words, .bits = 64 * words, .nrows = order->window.places};
		size_t bytes = 0;

		if (sort.nrows > 0)
			reason = gpu_sort(&sort, &bytes, NULL);
		if (order->sort_bytes < bytes)
			order->sort_bytes = bytes;
	}
	order->sort_scratch = gpud_place(end, order->sort_bytes);
	return reason;
}

static void
place_rows(OrderedRows *out, size_t *end)
{
	uint64_t given = gpud_rows_padded(out->room);

	gpud_rows_place(&out->kept, end);
	for (uint32_t i = 0; i < out->kept.nvalues; i++)
	{
		out->gathered[i] = gpud_place(end, given * gpud_rows_width(out->kept.types[i]));
		out->gathered_valid[i] = gpud_place(end, given / 8);
	}
}

GpuaggReason
gpud_order_plan(QueryOrder *order, size_t *end)
{
	uint64_t places = order->window.places;
	uint64_t rows = gpud_rows_padded(order->window.places);
	size_t item = gpuagg_sort_item_size(GPUAGG_SORT_WORDS);

	if (places % GPU_QUERY_UNIT != 0 || !choose_gathered(order))
		return GPUAGG_REFUSED;
	gpud_rows_place(&order->kept, end);
	order->measured = gpud_place(end, sizeof(GpuWindowMeasure));
	order->scratch = gpud_place(end, gpu_window_scratch(rows));
	order->items = gpud_place(end, rows * item);
	order->sorted = gpud_place(end, rows * item);
	order->partitions = gpud_place(end, rows / 8);
	order->peers = gpud_place(end, rows / 8);
	order->levels = gpud_place(end, gpu_window_levels_bytes(rows));
	order->peer_levels = gpud_place(end, gpu_window_levels_bytes(rows));
	order->scan_scratch = gpud_place(end, gpu_scan_scratch(places));
	place_kept_bitmaps(order, end);
	order->outcome = gpud_place(end, sizeof(OrderedOutcome));
	for (uint32_t i = 0; i < order->ngathered; i++)
	{
		order->gathered[i].values = gpud_place(end, rows * order->gathered[i].bytes);
		order->gathered[i].valid = gpud_place(end, rows / 8);
	}
	for (uint32_t f = 0; f < order->window.nfunctions; f++)
		place_function(order, f, end);
	if (gpud_order_gives_rows(order))
		place_rows(&order->out, end);
	return place_sort(order, end);
}

/* ---- rows ---- */

GpuaggReason
gpud_order_begin(QueryOrder *order, const Lane *lane)
{
	GpuaggReason reason = gpud_rows_clear(&order->kept, lane);

	order->used = 0;
	if (reason == GPUAGG_OK)
		reason = gpu_memset(lane->block + order->scratch, 0, 64, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(lane->block + order->scan_scratch, 0,
							order->outcome + sizeof(OrderedOutcome) - order->scan_scratch,
							lane->stream);
	return reason;
}

GpuaggReason
gpud_order_keep(QueryOrder *order, const Lane *lane, const GpuQuery *query)
{
	GpuWindowRows rows = gpud_rows_of(&order->kept, lane);
	GpuaggReason reason = gpu_query_keep(query, &rows, order->used, lane->stream);

	order->used += query->shape.nunits * GPU_QUERY_UNIT;
	return reason;
}

/* ---- measures ---- */

static bool
is_float_sum(const GpuaggWindowFunction *function)
{
	return function->op == GPUAGG_SUM && gpuagg_kind_is_float(function->kind);
}

GpuaggReason
gpud_order_measure(QueryOrder *order, const Lane *lane, void *slot)
{
	uint32_t summed = 0;

	for (uint32_t f = 0; f < order->window.nfunctions; f++)
		if (is_float_sum(&order->window.functions[f]))
			summed |= UINT32_C(1) << order->window.functions[f].value;
	return gpud_rows_measure(&order->kept, order->window.keys, order->window.nkeys, summed,
							 order->measured, order->scratch, lane, slot);
}

/* The chunk where sums of a value's floats begin. */
static int
sum_window(const QueryOrder *order, uint16_t value)
{
	return gpuagg_sum256_window(order->measure.extent[value].low);
}

GpuaggReason
gpud_order_measured(QueryOrder *order, const void *slot)
{
	const GpuaggWindow *window = &order->window;

	memcpy(&order->measure, slot, sizeof(order->measure));
	for (uint32_t k = 0; k < window->nkeys; k++)
	{
		order->layout[k].range = order->measure.key[k];
		order->layout[k].descending = window->keys[k].descending;
		order->layout[k].nulls_first = window->keys[k].nulls_first;
	}
	for (uint32_t o = 0; o < window->norders; o++)
	{
		const GpuaggWindowOrder *by = &window->orders[o];
		OrderedSort *sort = &order->sorts[o];

		sort->bits = gpuagg_key_lay_out(order->layout + by->first, (int) by->nkeys);
		sort->words = sort->bits <= 64 ? 1 : 2;
		if (sort->bits > 64 * GPUAGG_SORT_WORDS)
			return GPUAGG_CPU_ONLY;
	}
	for (uint32_t f = 0; f < window->nfunctions; f++)
	{
		const GpuaggWindowFunction *function = &window->functions[f];

		if (is_float_sum(function) &&
			!gpuagg_sum256_holds(sum_window(order, function->value),
								 order->measure.extent[function->value].high))
			return GPUAGG_CPU_ONLY;
	}
	return GPUAGG_OK;
}

/* ---- functions ---- */

/* The items in an order; without a bit of keys they are as they came. */
static GpuaggReason
sort_items(const QueryOrder *order, const Lane *lane, uint32_t o, const uint64_t **sorted)
{
	const GpuaggWindowOrder *by = &order->window.orders[o];
	GpuWindowRows rows = gpud_rows_of(&order->kept, lane);
	uint64_t *items = (uint64_t *) (lane->block + order->items);
	GpuSort sort = {.words = order->sorts[o].words,
					.bits = order->sorts[o].bits,
					.nrows = order->measure.nrows,
					.items = items,
					.results = (uint64_t *) (lane->block + order->sorted),
					.scratch = lane->block + order->sort_scratch};
	size_t bytes = order->sort_bytes;
	GpuaggReason reason = gpu_window_pack(&rows, order->window.keys + by->first,
										  order->layout + by->first, by->nkeys, sort.words,
										  lane->block + order->scratch, items, lane->stream);

	*sorted = sort.bits > 0 ? sort.results : items;
	if (reason == GPUAGG_OK && sort.bits > 0)
		reason = gpu_sort(&sort, &bytes, lane->stream);
	return reason;
}

/* What a function keeps at the rows' places. */
static GpuWindowValue
kept_function(const QueryOrder *order, const Lane *lane, uint32_t f)
{
	const OrderedFunction *of = &order->functions[f];
	int type = (int) gpuagg_window_result(&order->window.functions[f]);

	return (GpuWindowValue){lane->block + of->kept,
							(uint32_t *) (lane->block +
										  (of->kept_valid > 0 ? of->kept_valid : order->kept.rows)),
							of->bytes, gpuagg_vector_type_is_float(type)};
}

static GpuaggReason
gather_rows(const QueryOrder *order, const Lane *lane, uint32_t o, const uint64_t *sorted)
{
	const GpuaggWindowOrder *by = &order->window.orders[o];
	const OrderedSort *sort = &order->sorts[o];
	const OrderedValue *values = order->gathered + sort->first_gathered;
	GpuWindowRows rows = gpud_rows_of(&order->kept, lane);
	GpuWindowValue functions[GPUAGG_WINDOW_FUNCTIONS];
	GpuWindowGathered gathered[GPUAGG_WINDOW_COLUMNS];
	GpuWindowMasks masks = {{0}, {0}};

	for (uint32_t i = 0; i < sort->ngathered; i++)
	{
		const GpuWindowValue *value;

		if (values[i].value < GPUAGG_WINDOW_VALUES)
			value = &rows.value[values[i].value];
		else
		{
			uint32_t f = (uint32_t) values[i].value - GPUAGG_WINDOW_VALUES;

			functions[f] = kept_function(order, lane, f);
			value = &functions[f];
		}
		gathered[i] = (GpuWindowGathered){value, lane->block + values[i].values,
										  (uint32_t *) (lane->block + values[i].valid),
										  values[i].bytes};
	}
	if (by->npartition > 0)
		gpuagg_key_mask(order->layout + by->first, by->nkeys, by->npartition, sort->words,
						masks.partition);
	if (by->npeers > 0)
		gpuagg_key_mask(order->layout + by->first, by->nkeys, by->npeers, sort->words, masks.peers);
	return gpu_window_gather(sorted, order->measure.nrows, sort->words, &masks, gathered,
							 sort->ngathered, (uint64_t *) (lane->block + order->partitions),
							 (uint64_t *) (lane->block + order->peers), lane->stream);
}

/* Levels of the bitmaps by which an order's functions reach. */
static GpuaggReason
make_levels(const QueryOrder *order, const Lane *lane, uint32_t o)
{
	bool wanted[2] = {false, false}; /* of partitions, of peers */
	const size_t bitmap[2] = {order->partitions, order->peers};
	const size_t levels[2] = {order->levels, order->peer_levels};
	GpuaggReason reason = GPUAGG_OK;

	for (uint32_t f = 0; f < order->window.nfunctions; f++)
		if (order->window.functions[f].order == o &&
			order->window.functions[f].reach != GPUAGG_REACH_ROW)
			wanted[order->window.functions[f].reach != GPUAGG_REACH_PARTITION] = true;
	for (int i = 0; i < 2 && reason == GPUAGG_OK; i++)
		if (wanted[i])
			reason = gpu_window_levels((const uint64_t *) (lane->block + bitmap[i]),
									   order->measure.nrows, (uint64_t *) (lane->block + levels[i]),
									   lane->stream);
	return reason;
}

/* Counts the values that a scan of an average takes. */
static GpuaggReason
count_values(const QueryOrder *order, const Lane *lane, GpuScan scan, uint32_t f)
{
	scan.kind = GPUAGG_INT32;
	scan.op = GPUAGG_COUNT;
	scan.results = lane->block + order->functions[f].counts;
	scan.status = NULL;
	scan.state_out = NULL;
	return gpu_scan(&scan, lane->stream);
}

static GpuaggReason
scan_rows(const QueryOrder *order, const Lane *lane, uint32_t f)
{
	const GpuaggWindowFunction *function = &order->window.functions[f];
	const OrderedFunction *of = &order->functions[f];
	OrderedOutcome *outcome = (OrderedOutcome *) (lane->block + order->outcome);
	GpuScan scan = {.kind = function->op == GPUAGG_COUNT ? GPUAGG_INT32 : function->kind,
					.op = function->op,
					.flags = function->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0,
					.nrows = order->measure.nrows,
					.heads = (const uint64_t *) (lane->block + order->partitions),
					.results = lane->block + of->results,
					.state_out = &outcome->state[f],
					.scratch = lane->block + order->scan_scratch};

	if (of->gathered != GPUAGG_WINDOW_NONE)
	{
		const OrderedValue *value = &order->gathered[of->gathered];

		scan.values = lane->block + value->values;
		scan.validity = (const uint64_t *) (lane->block + value->valid);
	}
	else if (function->heads)
		scan.validity = (const uint64_t *) (lane->block + order->peers);
	if (is_float_sum(function))
		scan.window = sum_window(order, function->value);
	if (of->status > 0)
		scan.status = (uint8_t *) (lane->block + of->status);
	if (function->average)
	{
		GpuaggReason reason = count_values(order, lane, scan, f);

		if (reason != GPUAGG_OK)
			return reason;
		scan.counts = (const int64_t *) (lane->block + of->counts);
	}
	return gpu_scan(&scan, lane->stream);
}

static GpuaggReason
reach_rows(const QueryOrder *order, const Lane *lane, uint32_t f)
{
	const OrderedFunction *of = &order->functions[f];
	int reach = order->window.functions[f].reach;
	bool whole = reach == GPUAGG_REACH_PARTITION;
	OrderedOutcome *outcome = (OrderedOutcome *) (lane->block + order->outcome);
	GpuWindowReach run = {.reach = reach,
						  .bytes = of->bytes,
						  .nrows = order->measure.nrows,
						  .results = lane->block + of->results,
						  .overflows = &outcome->overflows};

	if (reach == GPUAGG_REACH_ROW && of->status == 0)
		return GPUAGG_OK;
	if (reach != GPUAGG_REACH_ROW)
	{
		run.heads = (const uint64_t *) (lane->block + (whole ? order->partitions : order->peers));
		run.levels = (const uint64_t *) (lane->block +
										 (whole ? order->levels : order->peer_levels));
		run.values = lane->block + of->reached;
	}
	if (of->status > 0)
	{
		run.status = (const uint8_t *) (lane->block + of->status);
		run.valid = (uint32_t *) (lane->block + of->valid);
	}
	return gpu_window_reach(&run, lane->stream);
}

/* Where a function's values are, in its order. */
static char *
values_of(const OrderedFunction *of, const Lane *lane)
{
	return lane->block + (of->reached > 0 ? of->reached : of->results);
}

/* A function's values at the rows' places, for the orders behind its own. */
static GpuaggReason
scatter_rows(const QueryOrder *order, const Lane *lane, uint32_t f, const uint64_t *sorted)
{
	const OrderedFunction *of = &order->functions[f];
	GpuWindowValue to = kept_function(order, lane, f);

	return gpu_window_scatter(sorted, order->measure.nrows,
							  order->sorts[order->window.functions[f].order].words,
							  values_of(of, lane),
							  of->status > 0 ? (const uint32_t *) (lane->block + of->valid) : NULL,
							  &to, lane->stream);
}

/* An order's functions. */
static GpuaggReason
compute_functions(const QueryOrder *order, const Lane *lane, uint32_t o, const uint64_t *sorted)
{
	GpuaggReason reason = GPUAGG_OK;

	for (uint32_t f = 0; f < order->window.nfunctions && reason == GPUAGG_OK; f++)
	{
		if (order->window.functions[f].order != o)
			continue;
		reason = scan_rows(order, lane, f);
		if (reason == GPUAGG_OK)
			reason = reach_rows(order, lane, f);
		if (reason == GPUAGG_OK && !is_last(order, f))
			reason = scatter_rows(order, lane, f, sorted);
	}
	return reason;
}

/* Where each of the second program's columns is. */
static void
set_blocks(const QueryOrder *order, const Lane *lane, GpuQueryBlock *blocks)
{
	for (uint32_t i = 0; i < order->ncolumns; i++)
	{
		uint16_t f = order->window.columns[i].function;

		memset(&blocks[i], 0, sizeof(blocks[i]));
		blocks[i].width = gpud_rows_width(order->columns[i]);
		if (is_gathered(order, i))
		{
			const OrderedValue *value = &order->gathered[order->column_gathered[i]];

			blocks[i].values = lane->block + value->values;
			blocks[i].valid = (const uint64_t *) (lane->block + value->valid);
			continue;
		}
		blocks[i].values = values_of(&order->functions[f], lane);
		if (order->functions[f].status > 0)
			blocks[i].valid = (const uint64_t *) (lane->block + order->functions[f].valid);
	}
}

GpuaggReason
gpud_order_compute(QueryOrder *order, const Lane *lane, GpuQueryBlock *blocks, void *slot)
{
	const uint64_t *sorted = NULL;
	GpuaggReason reason = GPUAGG_OK;

	for (uint32_t o = 0; o < order->window.norders && reason == GPUAGG_OK; o++)
	{
		if (!gpuagg_window_same_sort(&order->window, o))
			reason = sort_items(order, lane, o, &sorted);
		if (reason == GPUAGG_OK)
			reason = gather_rows(order, lane, o, sorted);
		if (reason == GPUAGG_OK)
			reason = make_levels(order, lane, o);
		if (reason == GPUAGG_OK)
			reason = compute_functions(order, lane, o, sorted);
	}
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(slot, lane->block + order->outcome, sizeof(OrderedOutcome),
							  lane->stream);
	set_blocks(order, lane, blocks);
	return reason;
}

GpuaggReason
gpud_order_computed(const QueryOrder *order, const void *slot)
{
	const OrderedOutcome *outcome = slot;

	if (outcome->overflows != 0)
		return GPUAGG_CPU_ONLY;
	for (uint32_t f = 0; f < order->window.nfunctions; f++)
		if (is_float_sum(&order->window.functions[f]) && outcome->state[f].out_of_window != 0)
			return GPUAGG_CPU_ONLY;
	return GPUAGG_OK;
}

GpuQueryRange
gpud_order_range(const QueryOrder *order, uint32_t column)
{
	uint16_t value = order->window.columns[column].value;

	for (uint32_t k = 0; k < order->window.nkeys; k++)
	{
		const GpuaggKeyRange *range = &order->measure.key[k];

		if (order->window.columns[column].function != GPUAGG_WINDOW_NONE ||
			order->window.keys[k].value != value ||
			gpuagg_vector_type_is_float(order->kept.types[value]) || !range->has_values ||
			range->greatest - range->least >= UINT32_MAX)
			continue;
		return (GpuQueryRange){gpuagg_key_word_value(range->least),
							   (uint32_t) (range->greatest - range->least) + 1};
	}
	return (GpuQueryRange){0, 0};
}
