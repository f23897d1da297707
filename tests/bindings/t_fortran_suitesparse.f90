! t_fortran_suitesparse.f90: complete factors from Fortran, of a matrix of the tree with zeros on its diagonal.  TAP.
program t_fortran_suitesparse
   use trisolve_suitesparse
   implicit none
   integer :: tests = 0

   call factors()
   print '(a, i0)', '1..', tests

contains

   subroutine factors()
      type(trs_mm), target :: mm
      type(trs_mm_options), target :: read_options
      type(trs_factor_options) :: options
      type(trs_mat), target :: A
      type(trs_lu_t) :: lu
      type(trs_det) :: det
      type(trs_error) :: error
      real(c_double), pointer :: val(:)
      real(c_double), allocatable :: x(:), b(:), r(:)
      real(c_double) :: rcond
      character(:), allocatable, target :: name
      character(200) :: source, errmsg
      integer :: stat

      call get_environment_variable('TRS_SRCDIR', source)
      if (source == '') source = '.'
      name = trim(source)//'/matrices/west0067.mtx'//c_null_char
      read_options%base = 1
      call trs_check(trs_mm_read(c_loc(name), c_loc(read_options), c_loc(mm)))
      call trs_check(trs_mm_mat(c_loc(mm), 0, c_loc(A)))
      call c_f_pointer(mm%val, val, [mm%nnz])
      allocate (x(A%n), b(A%n), r(A%n))
      call random_number(b)

      options%plan%ops = 7
      call trs_lu_factor(lu, A, options)
      call lu%solve(b, x)
      call trs_matmul(A, x, r)
      call ok(maxval(abs(r - b)) < 1e-10, 'A x = b')
      call lu%solve(b, x, TRS_T)
      call trs_matmul(A, x, r, TRS_T)
      call ok(maxval(abs(r - b)) < 1e-10, 'transposed')
      call lu%refine(A, b, x, error=error)
      call ok(error%omega < 1e-14 .and. error%stop == TRS_STOP_CONVERGED, 'refined')
      call lu%condest(A, TRS_NORM_INF, rcond)
      call ok(rcond > 0 .and. rcond < 1, 'condition')
      call lu%determinant(det)
      call ok(abs(det%re) == 1, 'determinant')

      val = 2*val
      call lu%update(A)
      call lu%solve(b, r)
      call trs_matmul(A, r, x)
      call ok(maxval(abs(x - b)) < 1e-10, 'new values')
      val = 0
      call lu%update(A, stat=stat, errmsg=errmsg)
      call ok(stat == TRS_EPIVOT, errmsg)

      val = 1
      call trs_lu_factor(lu, A, method='cholmod', stat=stat, errmsg=errmsg)
      call ok(stat /= TRS_OK, errmsg)
      call trs_lu_factor(lu, A, ordering='no-such', stat=stat, errmsg=errmsg)
      call ok(stat == TRS_ESUPPORT .and. index(errmsg, 'no-such') > 0, errmsg)
      call trs_mm_free(c_loc(mm))
   end subroutine factors ! lu is destroyed here

   subroutine ok(right, what)
      logical, intent(in) :: right
      character(*), intent(in) :: what
      tests = tests + 1
      if (right) then
         print '(a, i0, 2a)', 'ok ', tests, ' - ', trim(what)
      else
         print '(a, i0, 2a)', 'not ok ', tests, ' - ', trim(what)
      end if
   end subroutine ok

end program t_fortran_suitesparse
