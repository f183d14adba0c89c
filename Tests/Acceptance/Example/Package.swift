// swift-tools-version: 6.2
import PackageDescription

// A program that depends on the library, as any other would.
let package = Package(
  name: "Example",
  dependencies: [.package(name: "s3up", path: "../../..")],
  targets: [
    .executableTarget(name: "Example", dependencies: [.product(name: "MultipartCore", package: "s3up")]),
    // The code of the library's front page, which is only built: its store does not exist.
    .executableTarget(name: "FrontPage", dependencies: [.product(name: "MultipartCore", package: "s3up")]),
    // The last step of the documentation's tutorial.
    .executableTarget(name: "Tutorial", dependencies: [.product(name: "MultipartCore", package: "s3up")]),
  ]
)
