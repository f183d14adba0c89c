import MultipartCore

let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
var options = UploadOptions()
options.object.metadata = [NamedValue("host", "build-7")]
options.conditions.ifNoneMatch = true
let object = try await store.upload(.file("disk.img"), to: "images/disk.img", options) { event in
  if case .warning(let text) = event { print("warning: \(text.description)") }
}
print("\(object.size) bytes: \(object.evidence)")
