import Foundation
import MultipartCore

let words = CommandLine.arguments
guard words.count == 4 else {
  print("usage: Tutorial ENDPOINT BUCKET FILE")
  exit(64)
}
let store = try await Store(bucket: words[2], StoreOptions(endpoint: words[1]))
var options = UploadOptions()
options.object.metadata = [NamedValue("host", "build-7")]
let upload = try store.uploadTask(.file(words[3]), to: "tutorial/object", options) { event in
  if case .warning(let text) = event { print("warning: \(text.description)") }
}
let bar = Task {
  while true {
    try await Task.sleep(for: .seconds(1))
    print("\(upload.progress.bytes) of \(upload.progress.total ?? 0) bytes, \(upload.progress.activity)")
  }
}
defer { bar.cancel() }
do throws(Failure) {
  let object = try await upload.run()
  print("\(object.size) bytes: \(object.evidence)")
} catch {
  print(error)
  if error.isResumable { print("run this again, and only what is missing is sent") }
  exit(1)
}
let url = try await store.presign(.get, "tutorial/object", for: .seconds(3600))
print("available until \(url.expires?.iso8601 ?? "its end") at \(url.url)")
let back = try await store.download("tutorial/object", to: .file(words[3] + ".back"))
print("brought back: \(back.evidence)")
