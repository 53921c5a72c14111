// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Bookstore",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Pippin", path: "../..")
    ],
    targets: [
        // With a file only, it would be the product Pippin, which needs no libpq.
        .executableTarget(
            name: "bookstore",
            dependencies: [
                .product(name: "PippinPostgres", package: "Pippin"), .product(name: "PippinSync", package: "Pippin"),
            ]),
        // Trips with SwiftData: models that inherit, an actor that imports, and a list that follows.
        .executableTarget(name: "trips", dependencies: [.product(name: "SwiftData", package: "Pippin")]),
        // The same store as a web page. Its models are the other's files.
        .executableTarget(
            name: "bookstore-web",
            dependencies: [
                .product(name: "PippinPostgres", package: "Pippin"),
                .product(name: "LoopbackServer", package: "Pippin"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
