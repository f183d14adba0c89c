// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let strictC: [CSetting] = [.treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra")]

let package = Package(
  name: "s3up",
  products: [
    .executable(name: "s3up", targets: ["s3up"]),
    .library(name: "MultipartCore", targets: ["MultipartCore"]),
  ],
  targets: [
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .target(name: "CKernels", cSettings: strictC),
    .target(name: "CTLS", dependencies: ["COpenSSL"], cSettings: strictC),
    .target(name: "MultipartBasics", dependencies: ["CKernels"], swiftSettings: strict),
    .target(
      name: "MultipartCore",
      dependencies: ["CCurl", "COpenSSL", "CExpat", "CKernels", "CTLS", "MultipartBasics"],
      swiftSettings: strict, linkerSettings: [.linkedLibrary("curl")]),
    .executableTarget(
      name: "s3up", dependencies: ["MultipartBasics", "MultipartCore"],
      resources: [.embedInCode("Ticket/upload.sh"), .embedInCode("Ticket/page.html")], swiftSettings: strict),
    .target(
      name: "Support", dependencies: ["MultipartBasics", "MultipartCore", "COpenSSL"], path: "Tests/Support",
      swiftSettings: strict),
    .testTarget(
      name: "MultipartCoreTests", dependencies: ["MultipartBasics", "MultipartCore", "Support"],
      swiftSettings: strict),
    .testTarget(
      name: "s3upTests", dependencies: ["s3up", "MultipartBasics", "MultipartCore", "Support"],
      exclude: ["BlackBox/Mistakes.txt"],
      swiftSettings: strict),
    .testTarget(
      name: "SupportTests", dependencies: ["MultipartBasics", "MultipartCore", "Support"], swiftSettings: strict),
    .testTarget(
      name: "RealStoreTests", dependencies: ["MultipartBasics", "MultipartCore", "Support"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
