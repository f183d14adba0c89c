import Foundation
@testable import MultipartCore
import Support

/// A folder that a test walks, with names of any bytes in it.
struct Tree {
  let directory: TemporaryDirectory

  init(_ files: [String] = []) throws {
    directory = try TemporaryDirectory("s3up-tree")
    for file in files { try make(Array(file.utf8)) }
  }

  var root: FilePath { FilePath(directory.path) }

  /// Makes a file of this size, with the folders that it is in; a folder if the path ends in a slash.
  func make(_ path: [UInt8], size: Int = 1) throws {
    for end in path.indices where path[end] == UInt8(ascii: "/") {
      let made = full(path[..<end]).withCString { mkdir($0, 0o700) }
      guard made == 0 || errno == EEXIST else { throw SystemError("mkdir") }
    }
    guard path.last != UInt8(ascii: "/") else { return }
    let file = full(path).withCString { open($0, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600) }
    guard file >= 0 else { throw SystemError("open") }
    defer { close(file) }
    guard ftruncate(file, off_t(size)) == 0 else { throw SystemError("ftruncate") }
  }

  func full(_ path: some Sequence<UInt8>) -> FilePath {
    FilePath(bytes: Array(directory.path.utf8) + [UInt8(ascii: "/")] + path)
  }

  func path(_ name: String) -> String { directory.path(name) }

  func link(_ name: String, to target: String) throws {
    guard symlink(target, path(name)) == 0 else { throw SystemError("symlink") }
  }
}

extension TreeWalk {
  /// The results of the walk in order: paths, and the reasons for files that are not sent.
  func tell(_ most: Int = .max) -> [String] {
    var told: [String] = []
    while told.count < most, let finding = next() {
      switch finding {
      case .file(let file): told.append(String(decoding: file.path, as: UTF8.self))
      case .skipped(let skip): told.append("\(String(decoding: skip.path, as: UTF8.self)): \(skip.reason)")
      case .failed(let failed): told.append("\(failed.failure.code): \(failed.failure.place.file ?? "")")
      }
    }
    return told
  }
}
