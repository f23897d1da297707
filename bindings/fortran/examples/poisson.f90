! poisson.f90: conjugate gradients with IC(0), and a comparison with the solution that is known.
!
!    -u_xx - u_yy = f in the unit square, u = 0 on its boundary, u = sin(pi x) sin(pi y)
!
! by five points on m x m of them inside.  The preconditioner is M = L L', two triangular solves a step.  Twice as many
! points leave a quarter of the error; the program stops with 1 when they do not.
! Source: Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1.
program poisson
   use, intrinsic :: iso_fortran_env, only: real64, int32
   use trisolve
   implicit none
   real(real64) :: coarse, fine
   integer :: few, more

   call solve(31, coarse, few)
   call solve(63, fine, more)
   print '(2(i5, a, es9.2), a, f5.2)', few, ' steps, error', coarse, more, ' steps, error', fine, &
      ', order', log(coarse/fine)/log(2.0_real64)
   if (coarse/fine < 3.8 .or. more > 80) error stop 1

contains

   ! The largest error of u on m x m points, and how many steps conjugate gradients take.
   subroutine solve(m, error, steps)
      integer, intent(in) :: m
      real(real64), intent(out) :: error
      integer, intent(out) :: steps
      integer(int32), allocatable, target :: ptr(:), idx(:)
      real(real64), allocatable, target :: val(:)
      real(real64), dimension(m*m) :: u, x, r, z, p, Ap
      real(real64) :: rz, before, alpha
      type(trs_mat) :: A
      type(trs_ilu_options) :: options
      type(trs_lu_t) :: ic

      call assemble(m, ptr, idx, val, u, r)
      A = trs_matrix(ptr, idx, val)
      options%method = TRS_IC0
      call ic%ilu(A, options)
      x = 0
      p = 0
      before = 1
      do steps = 0, m*m
         if (norm2(r) < 1e-10_real64) exit
         call ic%solve(r, z) ! z = M \ r
         rz = dot_product(r, z)
         p = z + rz/before*p
         before = rz
         call trs_matmul(A, p, Ap)
         alpha = rz/dot_product(p, Ap)
         x = x + alpha*p
         r = r - alpha*Ap
      end do
      error = maxval(abs(x - u))
   end subroutine solve ! ic is destroyed here

   ! The matrix by rows, which count from 1, the solution, and the right-hand side.
   subroutine assemble(m, ptr, idx, val, u, f)
      integer, intent(in) :: m
      integer(int32), allocatable, intent(out) :: ptr(:), idx(:)
      real(real64), allocatable, intent(out) :: val(:)
      real(real64), intent(out) :: u(:), f(:)
      real(real64), parameter :: pi = acos(-1.0_real64)
      integer :: i, j, row
      allocate (ptr(m*m + 1), idx(0), val(0))
      ptr(1) = 1
      do j = 1, m
         do i = 1, m
            row = i + m*(j - 1)
            if (j > 1) idx = [idx, row - m]
            if (i > 1) idx = [idx, row - 1]
            idx = [idx, row]
            if (i < m) idx = [idx, row + 1]
            if (j < m) idx = [idx, row + m]
            ptr(row + 1) = size(idx) + 1
            val = [val, merge(4, -1, idx(ptr(row):) == row)*real((m + 1)**2, real64)]
            u(row) = sin(pi*i/(m + 1))*sin(pi*j/(m + 1))
         end do
      end do
      f = 2*pi**2*u
   end subroutine assemble

end program poisson
