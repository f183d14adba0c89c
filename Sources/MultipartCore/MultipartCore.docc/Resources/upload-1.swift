import MultipartCore

let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
