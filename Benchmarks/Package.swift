// swift-tools-version: 6.0
import PackageDescription

// `make bench GRDB=/path/to/GRDB.swift` measures GRDB, too, which nothing here depends on otherwise.
let grdb = Context.environment["GRDB_PATH"].flatMap { $0.isEmpty ? nil : $0 }

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "Pippin", path: "..")] + (grdb.map { [.package(name: "GRDB", path: $0)] } ?? []),
    targets: [
        .systemLibrary(name: "CSQLiteBaseline", providers: [.apt(["libsqlite3-dev"])]),
        // Counts allocations, and instructions where the machine does.
        .target(name: "CAllocationCount"),
        // What GRDB refers to, and Debian's SQLite does not have.
        .target(name: "CSQLiteSnapshots"),
        .executableTarget(
            name: "pippin-benchmarks",
            dependencies: [
                "CAllocationCount", "CSQLiteBaseline",
                .product(name: "Pippin", package: "Pippin"),
                .product(name: "PippinRecords", package: "Pippin"),
                .product(name: "CoreData", package: "Pippin"),
                .product(name: "SwiftData", package: "Pippin"),
            ] + (grdb == nil ? [] : [.product(name: "GRDB", package: "GRDB"), "CSQLiteSnapshots"]),
            swiftSettings: grdb == nil ? [] : [.define("GRDB_COLUMN")],
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
        // What an item takes at two sizes: `make growth`.
        .executableTarget(
            name: "pippin-growth",
            dependencies: [
                .product(name: "Pippin", package: "Pippin"), .product(name: "CoreData", package: "Pippin"),
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
