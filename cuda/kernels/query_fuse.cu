/*
 * query_fuse.cu
 *	  Finds out whether a plan has a shape that needs no interpreter; host code.
 *
 * The steps are followed with what they compute as terms: conditions, and products.  Rows are
 * flagged by arithmetic alone.  All of it must be behind the filter and be part of the one sum,
 * in its order, so that the same rows are flagged; or all of it is listed.
 */
#include "kernels/query_fused.h"
#include "kernels/query_planner.h"

namespace
{

enum Kind
{
	UNKNOWN, /* nothing that a shape has */
	COLUMN,
	CONSTANT,
	CONDITIONS,
	PRODUCT
};

struct Term
{
	Kind kind;
	int class_of;
	uint32_t number;	 /* of a column or constant */
	uint32_t conditions; /* a bit for each */
	int steps;			 /* of arithmetic in it */
	bool ready;			 /* can only be added up */
	int nfactors;
	FusedFactor factor[FUSED_FACTORS];
};

struct Condition
{
	uint32_t column;
	int class_of;
	FusedCondition condition;
};

struct Fuser
{
	FusedPlan *fused;
	FusedProducts *products; /* or NULL */
	const GpuQueryPlan *plan;
	Term accumulator;
	int ntemporaries;
	uint32_t sources[GPU_QUERY_STEPS]; /* of temporaries, and what is in them */
	Term temporaries[GPU_QUERY_STEPS];
	int nconditions;
	Condition conditions[FUSED_CONDITIONS];
	bool filters; /* some step is a filter */
	bool filtered;
	int steps; /* of arithmetic so far */
	bool summed;
};

Term
term_of(const Fuser &f, uint32_t source)
{
	uint32_t number = QUERY_SOURCE_NUMBER(source);
	Term term = {};

	switch (QUERY_SOURCE_KIND(source))
	{
		case QUERY_ACCUMULATOR:
			return f.accumulator;
		case QUERY_COLUMN:
			term.class_of = query_class_of(f.plan->type[number]);
			term.kind = term.class_of == QUERY_BOOL || term.class_of == QUERY_INT128 ? UNKNOWN
																					 : COLUMN;
			term.number = number;
			return term;
		case QUERY_CONSTANT:
			term.kind = CONSTANT;
			term.number = number;
			return term;
		default:
			for (int i = f.ntemporaries - 1; i >= 0; i--)
				if (f.sources[i] == source)
					return f.temporaries[i];
			return term;
	}
}

/* A column as a product of one factor; others as they are. */
Term
product_of(const Term &term)
{
	Term product = term;

	if (term.kind != COLUMN)
		return product;
	product.kind = PRODUCT;
	product.nfactors = 1;
	product.factor[0].column = (uint8_t) term.number;
	return product;
}

/* A column beside a constant, of one class; false: it is neither. */
bool
with_constant(const Term &a, const Term &b, int of, Kind kind)
{
	return a.kind == kind && a.class_of == of && b.kind == CONSTANT;
}

Term
compare(Fuser &f, const GpuQueryStep &step, int op, int of)
{
	Term a = term_of(f, step.a);
	Term b = term_of(f, step.b);
	Term result = {};
	bool swapped = with_constant(b, a, of, COLUMN);

	if ((!swapped && !with_constant(a, b, of, COLUMN)) || f.filtered ||
		f.nconditions == FUSED_CONDITIONS)
		return result;

	Condition &condition = f.conditions[f.nconditions];

	condition = {};
	condition.column = swapped ? b.number : a.number;
	condition.class_of = of;
	condition.condition.op = (uint16_t) (swapped ? gpuagg_vector_commuted((GpuaggVectorOp) op)
												 : op);
	condition.condition.inverted = step.inverted;
	condition.condition.constant = f.plan->constants[swapped ? a.number : b.number].lo;
	result.kind = CONDITIONS;
	result.conditions = UINT32_C(1) << f.nconditions++;
	return result;
}

Term
both(Fuser &f, const GpuQueryStep &step)
{
	Term a = term_of(f, step.a);
	Term b = term_of(f, step.b);

	a.conditions |= b.conditions;
	if (b.kind != CONDITIONS || f.filtered)
		a.kind = UNKNOWN;
	return a.kind == CONDITIONS ? a : Term{};
}

/* A sum or difference of a column and a constant. */
Term
offset(Fuser &f, const GpuQueryStep &step, bool subtracts, int of)
{
	Term a = product_of(term_of(f, step.a));
	Term b = product_of(term_of(f, step.b));
	bool first = with_constant(a, b, of, PRODUCT); /* the column is */
	Term result = first ? a : b;

	if ((!first && !with_constant(b, a, of, PRODUCT)) || result.ready || result.nfactors != 1 ||
		result.factor[0].how != FUSED_COLUMN)
		return Term{};
	result.factor[0].how = !subtracts ? FUSED_SUM : first ? FUSED_DIFFERENCE : FUSED_CONTRARY;
	result.factor[0].constant = f.plan->constants[first ? b.number : a.number].lo;
	result.steps++;
	return result;
}

Term
multiply(Fuser &f, const GpuQueryStep &step, int of)
{
	Term a = product_of(term_of(f, step.a));
	Term b = product_of(term_of(f, step.b));

	if (b.nfactors > a.nfactors)
	{
		Term other = a;

		a = b;
		b = other;
	}
	if (a.kind != PRODUCT || b.kind != PRODUCT || a.ready || b.ready || a.class_of != of ||
		b.class_of != of || b.nfactors != 1 || a.nfactors == FUSED_FACTORS)
		return Term{};
	a.factor[a.nfactors++] = b.factor[0];
	a.steps += b.steps + 1;
	return a;
}

/* A column of INT16 or INT32 among wider ones; floats are widened as they are added up. */
Term
widen(Fuser &f, const GpuQueryStep &step, int from, int to)
{
	Term a = product_of(term_of(f, step.a));

	if (a.kind != PRODUCT || a.class_of != from)
		return Term{};
	if (from == QUERY_INT32 && to == QUERY_INT64 && a.nfactors == 1 &&
		a.factor[0].how == FUSED_COLUMN)
		a.factor[0].widened = 1;
	else if (from == QUERY_FLOAT32 && to == QUERY_FLOAT64)
		a.ready = true;
	else if (from != QUERY_INT32 || to != QUERY_INT32)
		return Term{};
	a.class_of = to;
	return a;
}

/* A product among all that are computed; false: there are too many. */
bool
put_product(FusedProducts &fused, const Term &term, uint8_t number, int op)
{
	FusedProduct &product = fused.product[fused.nproducts];

	if (fused.nproducts == FUSED_PRODUCTS)
		return false;
	fused.nproducts++;
	product.class_of = (uint8_t) term.class_of;
	product.nfactors = (uint8_t) term.nfactors;
	product.number = number;
	product.op = (uint8_t) op;
	memcpy(product.factor, term.factor, sizeof(term.factor));
	return true;
}

/* An aggregate beside others: of a product, of a column's values that are not NULL, or of rows. */
bool
aggregate_of_products(Fuser &f, const GpuQueryStep &step, int op)
{
	Term a = product_of(term_of(f, step.a));

	if (op == GPUAGG_COUNT && QUERY_SOURCE_KIND(step.a) == QUERY_NONE)
		return f.plan->groups.field[step.arg].missing == GPUAGG_GROUP_NONE;
	if (op == GPUAGG_COUNT && QUERY_SOURCE_KIND(step.a) == QUERY_COLUMN)
	{
		a = {};
		a.class_of = QUERY_BOOL;
		a.nfactors = 1;
		a.factor[0].column = (uint8_t) QUERY_SOURCE_NUMBER(step.a);
	}
	else if (op > GPUAGG_MAX || a.kind != PRODUCT || a.ready || a.class_of > QUERY_INT64)
		return false;
	return put_product(*f.products, a, (uint8_t) step.arg, op);
}

bool
aggregate(Fuser &f, const GpuQueryStep &step, int op)
{
	Term a = product_of(term_of(f, step.a));
	bool rows = QUERY_SOURCE_KIND(step.a) == QUERY_NONE;

	if (QUERY_SOURCE_KIND(step.c) != QUERY_NONE)
		return false;
	if (f.products != nullptr)
		return aggregate_of_products(f, step, op);
	if (op == GPUAGG_COUNT)
		return rows;
	if (op != GPUAGG_SUM || rows || f.summed || a.kind != PRODUCT)
		return false;
	f.summed = true;
	f.fused->sum = (uint8_t) step.arg;
	f.fused->nfactors = (uint8_t) a.nfactors;
	memcpy(f.fused->factor, a.factor, sizeof(a.factor));
	/* in which they are multiplied */
	f.fused->class_of = (uint8_t) (a.ready ? (int) QUERY_FLOAT32 : a.class_of);
	f.steps -= a.steps;
	return true;
}

/* Follows a step; false: it is of no such shape. */
bool
follow(Fuser &f, const GpuQueryStep &step)
{
	int op = step.code >> 3;
	int of = step.code & 7;
	bool computes = op >= GPUAGG_VECTOR_ADD && op <= GPUAGG_VECTOR_MUL;
	Term a;

	if (QUERY_SOURCE_KIND(step.mask) != QUERY_NONE || of == QUERY_INT128)
		return false;
	if (op >= QUERY_AGGREGATE)
		return aggregate(f, step, op - QUERY_AGGREGATE);
	switch (op)
	{
		case GPUAGG_VECTOR_EQ:
		case GPUAGG_VECTOR_LT:
		case GPUAGG_VECTOR_GT:
			a = compare(f, step, op, of);
			break;
		case GPUAGG_VECTOR_AND:
			a = both(f, step);
			break;
		case QUERY_FILTER:
			a = term_of(f, step.a);
			/* of all conditions */
			if (a.kind != CONDITIONS || f.filtered ||
				a.conditions != (UINT32_C(1) << f.nconditions) - 1)
				return false;
			f.filtered = true;
			break;
		case GPUAGG_VECTOR_ADD:
		case GPUAGG_VECTOR_SUB:
			a = offset(f, step, op == GPUAGG_VECTOR_SUB, of);
			break;
		case GPUAGG_VECTOR_MUL:
			a = multiply(f, step, of);
			break;
		default:
			if (op < QUERY_CASTS || op > QUERY_CASTS + QUERY_FLOAT64)
				return false;
			a = widen(f, step, op - QUERY_CASTS, of);
	}
	if (a.kind == UNKNOWN || (computes && f.filters && !f.filtered) ||
		(computes && f.products != nullptr && !put_product(*f.products, a, FUSED_NONE, GPUAGG_SUM)))
		return false;
	f.steps += computes;
	f.accumulator = a;
	if (QUERY_SOURCE_KIND(step.out) != QUERY_NONE)
	{
		f.sources[f.ntemporaries] = step.out;
		f.temporaries[f.ntemporaries++] = a;
	}
	return true;
}

/* The first factor that is of the column as its conditions are; or beyond them. */
int
factor_of(const FusedPlan &fused, const FusedColumn &column)
{
	int f = 0;

	while (f < fused.nfactors && (fused.factor[f].column != column.column ||
								  fused.factor[f].widened || fused.class_of != column.class_of))
		f++;
	return f;
}

/* Tells factors of the conditions on their columns, and has the other columns come first. */
void
share_columns(FusedPlan &fused)
{
	FusedColumn column[FUSED_COLUMNS];
	int n;

	memcpy(column, fused.column, sizeof(column));
	for (int f = 0; f < fused.nfactors; f++)
		fused.factor[f].tested = FUSED_NONE;
	for (int i = 0; i < fused.ncolumns; i++)
		if (factor_of(fused, column[i]) == fused.nfactors)
			fused.column[fused.nread++] = column[i];
	n = fused.nread;
	for (int i = 0; i < fused.ncolumns; i++)
	{
		int f = factor_of(fused, column[i]);

		if (f == fused.nfactors)
			continue;
		fused.factor[f].tested = (uint8_t) n;
		fused.column[n++] = column[i];
	}
}

/* Conditions by column; they are all that a filter has. */
bool
put_conditions(const Fuser &f)
{
	FusedPlan &fused = *f.fused;
	int n = 0;

	for (int i = 0; i < f.nconditions; i++)
	{
		const Condition &of = f.conditions[i];
		bool seen = false;
		FusedColumn *column = &fused.column[fused.ncolumns];

		for (int k = 0; k < i; k++)
			seen |= f.conditions[k].column == of.column;
		if (seen)
			continue;
		if (fused.ncolumns++ == FUSED_COLUMNS)
			return false;
		*column = {(uint8_t) of.column, (uint8_t) of.class_of, (uint8_t) n, 0};
		for (int k = i; k < f.nconditions; k++)
			if (f.conditions[k].column == of.column)
			{
				fused.condition[n++] = f.conditions[k].condition;
				column->count++;
			}
	}
	share_columns(fused);
	return f.nconditions == 0 || f.filtered;
}

void
begin(Fuser &f, FusedPlan *fused, const GpuQueryPlan *plan)
{
	f.fused = fused;
	f.products = nullptr;
	f.plan = plan;
	f.accumulator = {};
	f.ntemporaries = f.nconditions = f.steps = 0;
	f.filters = f.filtered = f.summed = false;
	for (uint32_t i = 0; i < plan->nsteps; i++)
		f.filters |= plan->steps[i].code >> 3 == QUERY_FILTER;
}

} // namespace

bool
query_fuse_products(FusedProducts *fused, const GpuQueryPlan *plan)
{
	Fuser f;

	memset(fused, 0, sizeof(*fused));
	if (plan->wide || plan->heavy || plan->groups.nkeys == 0)
		return false;
	for (uint32_t k = 0; k < plan->groups.nkeys; k++)
		if (QUERY_SOURCE_KIND(plan->key[k]) != QUERY_COLUMN)
			return false;
	begin(f, &fused->where, plan);
	f.products = fused;
	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (plan->steps[i].code >> 3 != QUERY_GROUP && !follow(f, plan->steps[i]))
			return false;
	return put_conditions(f);
}

bool
query_fuse_groups(FusedGroups *fused, const FusedProducts &products, const GpuQueryPlan *plan)
{
	int key;

	memset(fused, 0, sizeof(*fused));
	fused->where = products.where;
	fused->key = (uint8_t) QUERY_SOURCE_NUMBER(plan->key[0]);
	key = query_class_of(plan->type[fused->key]);
	if (plan->groups.nkeys != 1 || (key != QUERY_INT32 && key != QUERY_INT64))
		return false;
	for (uint32_t i = 0; i < products.nproducts; i++)
	{
		const FusedProduct &product = products.product[i];
		const FusedFactor &factor = product.factor[0];

		/* a column as it is; what is a step towards others is none */
		if (product.number == FUSED_NONE || product.nfactors != 1 || factor.how != FUSED_COLUMN ||
			factor.widened)
			return false;
		fused->value[fused->nvalues++] = {factor.column, product.class_of, product.number,
										  product.op};
	}
	return true;
}

bool
query_fuse(FusedPlan *fused, const GpuQueryPlan *plan)
{
	Fuser f;

	memset(fused, 0, sizeof(*fused));
	if (plan->wide || plan->heavy)
		return false;
	begin(f, fused, plan);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		if (!follow(f, plan->steps[i]))
			return false;
	return f.summed && f.steps == 0 && put_conditions(f);
}
