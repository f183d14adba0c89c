internal import CKernels

/// The two ends of a pipe, which the caller closes.
package struct Pipe {
  package let reading: Int32
  package let writing: Int32

  /// No command that is started meanwhile inherits an end: it would hold the pipe open (`pipe2`).
  package init(isNonblocking: Bool = false) throws(Failure) {
    var ends: [Int32] = [-1, -1]
    let error = ck_pipe(&ends, isNonblocking ? 1 : 0)
    guard error == 0 else { throw Failure.system(.local, error, "no pipe could be made") }
    (reading, writing) = (ends[0], ends[1])
  }
}
