import MultipartCore

let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
let object = try await store.upload(.file("disk.img"), to: "images/disk.img") { event in print(event) }
print(object.evidence)
