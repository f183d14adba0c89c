import MultipartCore

let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
let object = try await store.upload(.file("disk.img"), to: "images/disk.img")
print("\(object.size) bytes: \(object.evidence)")
