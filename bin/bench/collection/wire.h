/* wire.h: results as bytes, from a child process to its parent and in the file of --resume. */
#ifndef TRS_BIN_BENCH_WIRE_H
#define TRS_BIN_BENCH_WIRE_H

#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

typedef struct buffer { /* bytes that grow; free p */
    char *p;            /* [size] */
    size_t size, room;
} buffer;

int buffer_add(buffer *b, const void *p, size_t size); /* an exit code, as all of these */

/* Results are sent one after the other, and then how they end. */
int wire_result(buffer *b, const result *r);
int wire_end(buffer *b, bool bad_file, bool left_out);

/* Writes all bytes to the descriptor. */
int wire_send(int fd, const buffer *b);

typedef struct ending { /* how the results of a matrix end */
    bool ended;         /* as they should: with what wire_end has sent */
    bool bad_file, left_out;
    size_t whole; /* bytes of whole records */
} ending;

/* Hands out the results in the buffer, as those of that file, and says how they end. */
int wire_receive(const settings *s, const char *file, const buffer *b, taker to, ending *e);

#endif
