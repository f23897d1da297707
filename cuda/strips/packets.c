/* packets.c: which tasks of a tile are copied to shared memory together: as many as have TRS_STRIP_ELLS ELL columns,
 * which is the room in shared memory, and no more than TRS_STRIP_TASKS. */
#include "config.h"

#include "schedule.h"

void trs_strips_end_packet(packet_writer *w)
{
    if (w->open.tasks == 0) return;
    if (w->to) w->to->packet[w->packet] = w->open;
    w->packet++;
    w->open = (trs_packet){.ell = w->ell, .task = w->task};
}

/* ELL columns beyond the window have halo entries, whatever they were before; so they count as early.  The carry is
 * from the task just before, and late. */
void trs_strips_add_task(packet_writer *w, const task *k)
{
    const int early = trs_strips_halo_ells(k), ells = k->early + k->late + k->carry;
    trs_packet *p = &w->open;
    TRS_ASSERT(early <= TRS_STRIP_EARLY && ells <= TRS_STRIP_ELLS);
    if (p->tasks == TRS_STRIP_TASKS || p->ells + ells > TRS_STRIP_ELLS) trs_strips_end_packet(w);
    p->start[p->tasks] = p->ells;
    p->early[p->tasks] = (uint8_t)early;
    p->late[p->tasks] = (uint8_t)(ells - early);
    p->tasks++;
    p->ells = (uint8_t)(p->ells + ells);
    w->task++;
    w->ell += ells;
}

/* ---- their size ---------------------------------------------------------------------------------- */

size_t trs_strips_bytes(const trs_strips *s, trs_dtype dtype)
{
    const size_t elem = trs_size(dtype);
    const size_t ell_bytes = TRS_STRIP_WARP * (elem + sizeof(uint16_t));
    const size_t task_bytes = TRS_STRIP_WARP * (elem + sizeof(int32_t));
    return (size_t)s->packets * sizeof(trs_packet) + (size_t)s->ells * ell_bytes +
           (size_t)s->tasks * task_bytes;
}
