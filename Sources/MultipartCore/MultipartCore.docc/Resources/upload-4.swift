import MultipartCore

let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
var options = UploadOptions()
options.object.metadata = [NamedValue("host", "build-7")]
options.conditions.ifNoneMatch = true
let upload = try store.uploadTask(.file("disk.img"), to: "images/disk.img", options) { event in
  if case .warning(let text) = event { print("warning: \(text.description)") }
}
let bar = Task {
  while true {
    try await Task.sleep(for: .seconds(1))
    print("\(upload.progress.bytes) of \(upload.progress.total ?? 0) bytes, \(upload.progress.activity)")
  }
}
defer { bar.cancel() }
let object = try await upload.run()
print("\(object.size) bytes: \(object.evidence)")
