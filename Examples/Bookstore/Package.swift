// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Bookstore",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Pippin", path: "../..")
    ],
    targets: [
        .executableTarget(name: "bookstore", dependencies: [.product(name: "Pippin", package: "Pippin")])
    ],
    swiftLanguageModes: [.v6]
)
