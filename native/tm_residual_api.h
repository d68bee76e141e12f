/* tm_residual_api.h - programs that decide for one subscription what the predicate index cannot, as C and Python share
 * them. It builds on tm_api.h, and cffi reads it unchanged.
 *
 * Law: that of tm_api.h. What a program means is written in protocol/residual/instructions.py.
 */

#define TM_RESIDUAL_BYTES_MAX 4096
#define TM_RESIDUAL_PARTS 64 /* of the steps of a match; a program may use one of them */

/* Verdicts; a message is delivered only for TRUE. */
#define TM_RESIDUAL_FALSE 0
#define TM_RESIDUAL_TRUE 1
#define TM_RESIDUAL_UNKNOWN 2 /* or no boolean */
#define TM_RESIDUAL_ERROR 3   /* a `require` met what is unknown */
#define TM_RESIDUAL_OVER 4    /* the budget does not suffice */

/* Return TM_OK if `program` (borrowed during the call) is a program, else TM_MALFORMED and the reason (static) in
 * `*reason`, with the number of the constant or instruction in `*place`. */
int tm_residual_verify(const uint8_t *program, size_t size, const char **reason, uint32_t *place);

/* Run a verified program on the attributes of a message within `budget` steps; returns a verdict. Everything is
 * borrowed during the call. `*steps`: spent; with TM_RESIDUAL_OVER one more than the budget. */
int tm_residual_run(const uint8_t *program, const tm_attribute *attributes, size_t count, uint64_t budget,
                    uint64_t *steps);
