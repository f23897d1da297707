/* busy.h: another kernel, which keeps some SMs of the current device to itself until the host says enough. */
#ifndef TRS_BUSY_H
#define TRS_BUSY_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct busy busy;

int busy_sms(void);          /* of the device */
busy *busy_begin(int count); /* it runs on so many SMs; NULL: it could not */
void busy_end(busy *b);      /* it has ended */

#ifdef __cplusplus
}
#endif
#endif
