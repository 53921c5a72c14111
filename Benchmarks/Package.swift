// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "Pippin", path: "..")],
    targets: [
        .systemLibrary(name: "CSQLiteBaseline", providers: [.apt(["libsqlite3-dev"])]),
        // Counts allocations, and instructions where the machine does.
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "pippin-benchmarks",
            dependencies: [
                "CAllocationCount", "CSQLiteBaseline",
                .product(name: "Pippin", package: "Pippin"),
                .product(name: "CoreData", package: "Pippin"),
            ],
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
        // Against libpq by hand: Scripts/bench-postgres.
        .systemLibrary(name: "CPQBaseline", providers: [.apt(["libpq-dev"])]),
        .executableTarget(
            name: "pippin-postgres-benchmarks",
            dependencies: [
                "CPQBaseline", .product(name: "PippinPostgres", package: "Pippin"),
                .product(name: "CoreDataPostgres", package: "Pippin"),
            ],
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
    ],
    swiftLanguageModes: [.v6]
)
