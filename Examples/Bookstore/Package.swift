// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Bookstore",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Pippin", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "bookstore",
            dependencies: [.product(name: "Pippin", package: "Pippin")],
            // Compiles Bookstore.xcdatamodeld, and generates the record classes that the model asks for.
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")])
    ],
    swiftLanguageModes: [.v6]
)
