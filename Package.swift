// swift-tools-version: 6.0
import CompilerPluginSupport
import PackageDescription

let package = Package(
    name: "Pippin",
    products: [
        .library(name: "Pippin", targets: ["Pippin"]),
        .library(name: "PippinRecords", targets: ["PippinRecords"]),
        .library(name: "CoreData", targets: ["CoreData", "PredicateOperators"]),
        .library(name: "CoreDataPostgres", targets: ["CoreDataPostgres"]),
        .library(name: "SwiftData", targets: ["SwiftData"]),
        .library(name: "SwiftDataPostgres", targets: ["SwiftDataPostgres"]),
        .library(name: "PippinPostgres", targets: ["PippinPostgres"]),
        .library(name: "PippinSync", targets: ["PippinSync"]),
        .executable(name: "pippin", targets: ["PippinCommand"]),
        // What `pippin browse` runs: apart, since it links libmicrohttpd and libpq.
        .executable(name: "pippin-browse", targets: ["PippinBrowse"]),
        // What `pippin shell` runs: apart, since it links libedit.
        .executable(name: "pippin-shell", targets: ["PippinShell"]),
        .library(name: "LoopbackServer", targets: ["LoopbackServer"]),
        .executable(name: "pippin-postgres", targets: ["PippinPostgresCommand"]),
        .plugin(name: "CoreDataPlugin", targets: ["CoreDataPlugin"]),
    ],
    targets: [
        // C libraries, from the system, each a module: only what imports one links it.
        .systemLibrary(
            name: "CPippinLibraries",
            providers: [
                .apt([
                    "libsqlite3-dev", "zlib1g-dev", "libpq-dev", "libedit-dev", "libmicrohttpd-dev",
                    "libcurl4-openssl-dev",
                ])
            ]),

        // The ground floor: no Core Data in it, each usable alone.
        .target(name: "SQLiteConnection", dependencies: ["CPippinLibraries"]),
        .target(name: "PostgresConnection", dependencies: ["CPippinLibraries"]),
        // Predicates, and texts as words that are searched.
        .target(name: "PredicateFormat"),
        // What a device and a server do to stay in step, as values; no store and no network in sight.
        .target(name: "SyncPlanning"),
        // Operators on key paths, apart, since every overload of `==` costs those who compile.
        .target(name: "PredicateOperators", dependencies: ["PredicateFormat"]),

        // The files of models as values, which the plugin's tool needs and nothing above them.
        .target(name: "ModelFiles", dependencies: ["PredicateFormat"]),

        // Core Data, floor by floor. What a store holds is described here: models, layouts, values, requests.
        .target(
            name: "CoreDataModel",
            dependencies: [
                "ModelFiles", "PredicateFormat", "CPippinLibraries",
            ]),
        // What a store does for rows: plans in, rows out.
        .target(
            name: "StoreEngine",
            dependencies: ["CoreDataModel", "ModelFiles", "PredicateFormat"]),
        // Which entity becomes which, and what that loses.
        .target(
            name: "MigrationPlans",
            dependencies: ["StoreEngine", "CoreDataModel", "ModelFiles", "PredicateFormat"]),
        // Statements, as values; no database in sight.
        .target(
            name: "SQLGeneration",
            dependencies: ["MigrationPlans", "StoreEngine", "CoreDataModel", "PredicateFormat"]),
        // The engine of stores in SQLite, and how these are migrated.
        .target(
            name: "SQLiteEngine",
            dependencies: [
                "SQLGeneration", "MigrationPlans", "SQLiteConnection", "StoreEngine", "CoreDataModel", "ModelFiles",
                "PredicateFormat", "CPippinLibraries",
            ]),
        // The engine of stores in PostgreSQL, and how these are migrated.
        .target(
            name: "PostgresEngine",
            dependencies: [
                "SQLGeneration", "MigrationPlans", "PostgresConnection", "StoreEngine", "CoreDataModel", "ModelFiles",
                "PredicateFormat",
            ]),
        // Stores that are open together: read, saved and observed as rows, without an object.
        .target(
            name: "StoreSession",
            dependencies: [
                "CoreDataModel", "MigrationPlans", "ModelFiles", "PredicateFormat", "SQLiteEngine", "StoreEngine",
            ]),
        // The graph on top: objects, contexts, coordinators, requests, results.
        .target(
            name: "CoreData",
            dependencies: [
                "CoreDataModel", "MigrationPlans", "ModelFiles", "PredicateFormat", "StoreEngine", "StoreSession",
                "CPippinLibraries",
            ]),

        // The type of stores in PostgreSQL.
        .target(name: "CoreDataPostgres", dependencies: ["CoreData", "PostgresEngine", "StoreEngine"]),

        // What `@CoreModel` and SwiftData's macros make of a declaration: source in, source out.
        .target(name: "ModelMacro"),
        // The program that the compiler asks for them.
        .macro(name: "PippinMacros", dependencies: ["ModelMacro"]),
        // Apple's SwiftData, on Core Data.
        .target(
            name: "SwiftData",
            dependencies: [
                "PippinMacros", "CoreData", "CoreDataModel", "PredicateFormat",
            ]),
        // SwiftData's stores in PostgreSQL.
        .target(name: "SwiftDataPostgres", dependencies: ["SwiftData", "CoreDataPostgres", "PostgresEngine"]),
        // Structs first.
        .target(
            name: "Pippin",
            dependencies: [
                "PippinMacros", "PredicateFormat", "StoreSession",
            ],
            // So that nothing of Core Data shows in the public face but where a file says so.
            swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
        // Structs in PostgreSQL.
        .target(name: "PippinPostgres", dependencies: ["Pippin", "PostgresEngine", "StoreSession"]),
        // A store that is kept in step with another one, in one process or over HTTP.
        .target(
            name: "PippinSync",
            dependencies: [
                "CPippinLibraries", "CoreDataModel", "HTTPMessages", "Pippin", "PredicateFormat", "StoreSession",
                "SyncPlanning",
            ]),
        // And records: for those who bring a model and classes of their own.
        .target(
            name: "PippinRecords",
            dependencies: ["Pippin", "CoreData", "StoreSession"]),

        // Tools.
        // What the command line and the browser see of a store: any file, with or without its model; the commands as
        // values; the bytes of SQLite's files, also those that SQLite does not read any more.
        .target(
            name: "StoreReading",
            dependencies: [
                "CPippinLibraries", "CodeGeneration", "CoreData", "CoreDataModel", "ModelFiles", "PredicateFormat",
                "SQLGeneration", "SQLiteConnection", "SQLiteEngine", "StoreEngine", "SyncPlanning",
            ]),
        .executableTarget(
            name: "PippinCommand",
            dependencies: [
                "CodeGeneration", "CoreData", "HTTPMessages", "ModelFiles", "PredicateFormat", "SQLiteEngine",
                "StoreReading", "StoreBrowser", "StoreEngine",
            ]),
        .executableTarget(
            name: "PippinShell",
            dependencies: ["CPippinLibraries", "CoreDataModel", "StoreReading", "StoreEngine"]),
        // The browser for stores: requests in, responses out; no sockets.
        .target(
            name: "StoreBrowser",
            dependencies: [
                "CoreData", "HTTPMessages", "ModelFiles", "PredicateFormat", "StoreEngine", "StoreReading",
            ]),
        // Requests, responses and markup as values, and who gets in.
        .target(name: "HTTPMessages"),
        .target(name: "LoopbackServer", dependencies: ["CPippinLibraries", "HTTPMessages"]),
        // What StoreReading is for files, for stores in PostgreSQL.
        .target(
            name: "PostgresStoreReading",
            dependencies: ["CoreDataPostgres", "PostgresConnection", "StoreReading"]),
        .executableTarget(
            name: "PippinBrowse",
            dependencies: ["LoopbackServer", "PostgresStoreReading", "StoreBrowser", "StoreReading"]),
        // Stores on servers, and sync; apart, so that `pippin` links no `libpq`, `libcurl` and `libmicrohttpd`.
        .executableTarget(
            name: "PippinPostgresCommand",
            dependencies: [
                "CoreData", "CoreDataPostgres", "HTTPMessages", "LoopbackServer", "ModelFiles", "CodeGeneration",
                "Pippin", "PippinPostgres", "PippinSync", "PostgresEngine", "PostgresStoreReading", "StoreReading",
                "StoreEngine", "SyncPlanning",
            ]),
        // Swift and Xcode's files, written: accessors and record classes for a model, and a model as an editor's source.
        .target(name: "CodeGeneration", dependencies: ["ModelFiles", "PredicateFormat"]),
        .executableTarget(name: "ModelCompiler", dependencies: ["CodeGeneration", "ModelFiles"]),
        // Runs ModelCompiler by Scripts/model-compiler, which compiles it: SwiftPM would optimize it, and from scratch
        // twice.
        .plugin(name: "CoreDataPlugin", capability: .buildTool()),

        // What all tests lean on: folders that go with them, plain SQL, Apple's files.
        .target(name: "TestSupport", dependencies: ["SQLiteConnection", "TestStartup"], path: "Tests/TestSupport"),
        // PostgreSQL under the names of SQLite's type and the one in memory, where `PIPPIN_STORE=PostgreSQL` says so.
        .target(
            name: "PostgresTestStores",
            dependencies: [
                "CoreData", "MigrationPlans", "PostgresEngine", "PostgresServer", "StoreEngine", "TestStartup",
            ], path: "Tests/PostgresTestStores"),
        // Prepares the process of the tests before the first test runs.
        .target(name: "TestStartup", path: "Tests/TestStartup"),
        // What imports what, and which room leans on which.
        .testTarget(name: "HouseTests"),
        // What every store engine must do, executable: an engine in dictionaries, and sequences of steps that run
        // against both.
        .target(
            name: "StoreEngineContract", dependencies: ["CoreDataModel", "PredicateFormat", "StoreEngine"],
            path: "Tests/StoreEngineContract"),
        // One text twice, with the standard library's methods and with ours.
        .testTarget(name: "SQLiteFormatTests", dependencies: ["SQLiteConnection", "StoreReading", "TestSupport"]),
        .testTarget(name: "SQLiteConnectionTests", dependencies: ["SQLiteConnection", "TestSupport"]),
        // A server of the tests' own.
        .target(
            name: "PostgresServer", dependencies: ["PostgresConnection", "TestSupport"], path: "Tests/PostgresServer"),
        // A network that loses what it is told to lose.
        .target(name: "FaultProxy", path: "Tests/FaultProxy"),
        // Whether what several did to one thing could have happened one after the other.
        .target(name: "Linearizability", path: "Tests/Linearizability"),
        .testTarget(name: "LinearizabilityTests", dependencies: ["Linearizability"]),
        // A cluster of servers that is broken on purpose: `make test-cluster`.
        .executableTarget(
            name: "ClusterTest",
            dependencies: [
                "CoreDataPostgres", "FaultProxy", "Linearizability", "PippinPostgres", "PostgresConnection",
            ],
            path: "Tests/ClusterTest"),
        // Devices, a server and a bad network, in memory, by seed: `make test-sync`.
        .target(name: "SyncSimulation", dependencies: ["SyncPlanning", "TestSupport"], path: "Tests/SyncSimulation"),
        .executableTarget(name: "SyncTest", dependencies: ["SyncSimulation"], path: "Tests/SyncTest"),
        .testTarget(name: "SyncPlanningTests", dependencies: ["SyncPlanning", "SyncSimulation", "TestSupport"]),
        // A device that is killed on the way.
        .executableTarget(
            name: "SyncChild", dependencies: ["PippinPostgres", "PippinSync"], path: "Tests/SyncChild"),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "FaultProxy", "HTTPMessages", "Linearizability", "LoopbackServer", "PippinPostgres",
                "PippinPostgresCommand", "PippinSync", "PostgresEngine", "PostgresServer", "StoreReading",
                "StoreSession", "SyncChild", "SyncPlanning",
                "TestSupport",
            ]),
        .testTarget(name: "SearchTextTests", dependencies: ["PredicateFormat", "CPippinLibraries", "TestSupport"]),
        .testTarget(
            name: "PostgresConnectionTests", dependencies: ["PostgresConnection", "PostgresServer", "TestSupport"]),
        .testTarget(name: "ModelMacroTests", dependencies: ["ModelMacro"]),
        .testTarget(name: "KeyedArchivesTests", dependencies: ["ModelFiles"]),
        .testTarget(
            name: "PredicateFormatTests", dependencies: ["PredicateFormat", "PredicateOperators", "TestSupport"]),
        .testTarget(
            name: "SQLiteEngineTests",
            dependencies: ["CoreDataModel", "SQLiteEngine", "StoreEngine", "StoreEngineContract", "TestSupport"]),
        .testTarget(
            name: "PostgresEngineTests",
            dependencies: [
                "CoreDataModel", "FaultProxy", "PostgresConnection", "PostgresEngine", "PostgresServer",
                "PredicateFormat", "SQLGeneration", "StoreEngine", "StoreEngineContract", "TestSupport",
            ]),
        .testTarget(
            name: "CoreDataPostgresTests",
            dependencies: [
                "CoreData", "CoreDataPostgres", "MigrationPlans", "PostgresConnection", "PostgresEngine",
                "PostgresServer", "StoreEngine",
            ]),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "ModelFiles", "CodeGeneration", "PredicateOperators", "SQLiteConnection", "TestSupport",
                "CoreDataModel", "MigrationPlans", "SQLGeneration", "SQLiteEngine", "StoreEngine", "StoreSession",
                "PostgresTestStores",
            ], exclude: ["NotOnPostgreSQL.txt"]),
        // Migrations in a process of its own, which is killed on the way.
        .executableTarget(name: "MigrationChild", dependencies: ["CoreData"], path: "Tests/MigrationChild"),
        .testTarget(
            name: "MigrationFaultTests",
            dependencies: ["MigrationChild", "CoreData", "SQLiteConnection", "SQLiteEngine", "TestSupport"],
            exclude: ["FaultInjection.c"]),
        .testTarget(
            name: "PippinTests",
            dependencies: [
                "Pippin", "PippinRecords", "CoreData", "SQLiteConnection", "SQLiteEngine", "TestSupport",
                "PostgresTestStores",
            ], exclude: ["NotOnPostgreSQL.txt"]),
        .testTarget(
            name: "PippinPostgresTests",
            dependencies: [
                "PippinPostgres", "PippinPostgresCommand", "CoreDataModel", "CoreDataPostgres", "ModelFiles",
                "CodeGeneration", "PippinRecords", "PostgresConnection", "PostgresServer", "StoreReading",
                "TestSupport",
            ]),
        // Programs that migrate stores in PostgreSQL, and are killed on the way.
        .executableTarget(
            name: "PostgresMigrationChild", dependencies: ["PippinPostgres"], path: "Tests/PostgresMigrationChild"),
        .testTarget(
            name: "PostgresMigrationTests",
            dependencies: ["PostgresConnection", "PostgresMigrationChild", "PostgresServer", "TestSupport"]),
        // Migrations of models in a process of its own, which is killed on the way.
        .executableTarget(
            name: "SwiftDataMigrationChild", dependencies: ["SwiftDataPostgres"], path: "Tests/SwiftDataMigrationChild"),
        .testTarget(
            name: "SwiftDataTests",
            dependencies: [
                "SwiftData", "SwiftDataMigrationChild", "SwiftDataPostgres", "CoreData", "SQLiteConnection",
                "PostgresServer", "PostgresTestStores", "TestSupport",
            ], exclude: ["NotOnPostgreSQL.txt"]),
        .testTarget(
            name: "PippinRecordsTests",
            dependencies: ["PippinRecords", "Pippin", "CoreData", "SQLiteConnection", "TestSupport"]),
        // Programs that work on one store at the same time.
        .executableTarget(
            name: "ConcurrencyChild", dependencies: ["Pippin", "PippinRecords", "CoreData"],
            path: "Tests/ConcurrencyChild"),
        .testTarget(
            name: "ConcurrencyTests", dependencies: ["ConcurrencyChild", "Pippin", "SQLiteConnection", "TestSupport"]),
        .testTarget(name: "CodeGenerationTests", dependencies: ["CodeGeneration", "TestSupport"]),
        .testTarget(
            name: "ModelCompilerTests", dependencies: ["ModelCompiler", "CoreData", "CodeGeneration", "TestSupport"]),
        .testTarget(
            name: "PippinCommandTests",
            dependencies: [
                "PippinCommand", "CoreData", "ModelFiles", "Pippin", "SQLiteConnection", "SQLiteEngine",
                "StoreReading", "TestSupport",
            ]),
        // Makes the stores that the browser is tested with, and saves to them as another process.
        .executableTarget(name: "BrowserChild", dependencies: ["CoreData"], path: "Tests/BrowserChild"),
        .testTarget(
            name: "StoreBrowserTests",
            dependencies: [
                "CoreData", "CoreDataPostgres", "HTTPMessages", "LoopbackServer", "ModelFiles", "PippinBrowse",
                "PippinShell", "PostgresServer", "PredicateFormat", "SQLiteConnection", "StoreBrowser", "StoreEngine",
                "StoreReading", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// A file sees the members of what it imports itself, and of nothing else: which of two `map`s it calls can be read at
// its top.
for target in package.targets where target.path == nil && [.regular, .executable, .macro].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.enableUpcomingFeature("MemberImportVisibility")]
}

// `PIPPIN_TESTS=PippinTests,HouseTests swift build --build-tests` builds these tests and what they need, in a fraction
// of the time that all take.
if let tests = Context.environment["PIPPIN_TESTS"]?.split(separator: ",").map(String.init) {
    let needs = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0.dependencies) })
    var (kept, next) = (Set<String>(), tests)
    while let name = next.popLast() {
        guard kept.insert(name).inserted else { continue }
        for case .byNameItem(let needed, _) in needs[name] ?? [] { next.append(needed) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let library as Product.Library: library.targets.contains { !kept.contains($0) }
        case let program as Product.Executable: program.targets.contains { !kept.contains($0) }
        default: true
        }
    }
}
