/* list.h: the names to run over; folders become the files in them and below them. */
#ifndef TRS_BIN_BENCH_LIST_H
#define TRS_BIN_BENCH_LIST_H

#include <stdbool.h>

typedef struct name_list {
    char **name; /* [count] */
    int count;
    bool directory; /* some of them come from a folder */
} name_list;

int list_names(char *const *names, int count, name_list *l); /* an exit code */
void list_free(name_list *l);

#endif
