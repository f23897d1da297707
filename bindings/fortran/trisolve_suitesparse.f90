! trisolve_suitesparse.f90: complete factors of a general matrix by SuiteSparse.
!
!    type(trs_lu_t) :: lu
!    call trs_lu_factor(lu, trs_matrix(ptr, idx, val))
!    call lu%solve(b, x)                                A x = b
!
! A program that uses this module links libtrisolve-fortran-suitesparse, and libtrisolve-suitesparse with it, which is
! under the GPL.
module trisolve_suitesparse
   use trisolve
   use trisolve_suitesparse_c
   implicit none
   public

contains

   ! Factor A, as trs_factor does.
   !    options: method and ordering are strings in C, which the arguments of these names put in
   subroutine trs_lu_factor(lu, A, options, method, ordering, stat, errmsg)
      type(trs_lu_t), intent(inout), target :: lu
      type(trs_mat), intent(in), target :: A
      type(trs_factor_options), intent(in), optional :: options
      character(*), intent(in), optional :: method, ordering
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
      type(trs_factor_options), target :: o
      character(:, c_char), allocatable, target :: m, p
      if (present(options)) o = options
      if (present(method)) then
         m = trim(method)//c_null_char
         o%method = c_loc(m)
      end if
      if (present(ordering)) then
         p = trim(ordering)//c_null_char
         o%ordering = c_loc(p)
      end if
      call lu%destroy()
      lu%n = A%n
      lu%dtype = A%dtype
      call trs_check(trs_factor(c_loc(lu%handle), c_loc(A), c_loc(o)), stat, errmsg)
   end subroutine trs_lu_factor

end module trisolve_suitesparse
