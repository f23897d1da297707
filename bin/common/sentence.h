/* sentence.h: what went wrong where the programs read or make a matrix themselves; the library has
 * trs_message () for what went wrong in it. */
#ifndef TRS_BIN_SENTENCE_H
#define TRS_BIN_SENTENCE_H

/* Keeps the sentence and returns the code. */
int say(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sentence of the last call that failed: of file_read, problem_make and what they call. */
const char *said(void);

#endif
