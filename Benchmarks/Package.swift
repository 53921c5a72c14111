// swift-tools-version: 6.0
import PackageDescription

// `make bench GRDB=/path/to/GRDB.swift` measures GRDB, too, which nothing here depends on otherwise.
let grdb = Context.environment["GRDB_PATH"].flatMap { $0.isEmpty ? nil : $0 }

let grdbLibrary: [Target.Dependency] =
    grdb == nil ? [] : [.product(name: "GRDB", package: "GRDB"), "CSQLiteSnapshots"]
let matrix: [Target.Dependency] =
    [
        "CSQLiteBaseline", .product(name: "Pippin", package: "Pippin"),
        .product(name: "PippinRecords", package: "Pippin"), .product(name: "CoreData", package: "Pippin"),
    ] + grdbLibrary

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
            ] + grdbLibrary,
            swiftSettings: grdb == nil ? [] : [.define("GRDB_COLUMN")],
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
        // The matrix of shapes and works. The models stand once and are compiled twice: by macro, and by coding.
        .target(
            name: "MatrixMacro", dependencies: matrix,
            swiftSettings: grdb == nil ? [] : [.define("GRDB_COLUMN")]),
        .target(name: "MatrixCodable", dependencies: matrix, swiftSettings: [.define("BY_CODING")]),
        .executableTarget(name: "pippin-matrix", dependencies: ["CSQLiteBaseline", "MatrixMacro", "MatrixCodable"]),
        // What an item takes at two sizes: `make growth`.
        .executableTarget(
            name: "pippin-growth",
            dependencies: [
                .product(name: "Pippin", package: "Pippin"), .product(name: "CoreData", package: "Pippin"),
                .product(name: "SwiftData", package: "Pippin"),
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
        // Files that are kept in step with a server: Scripts/bench-sync.
        .executableTarget(
            name: "pippin-sync-benchmarks",
            dependencies: [
                "CPQBaseline", "CSQLiteBaseline", .product(name: "PippinPostgres", package: "Pippin"),
                .product(name: "PippinSync", package: "Pippin"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
