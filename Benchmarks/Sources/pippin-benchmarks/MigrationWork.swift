import CSQLiteBaseline
import CoreData

/// A store of many rows comes to the next version of its model: an attribute has another name, a new one a default.
enum MigrationWork {
    static let all = [
        Work(
            title: "migrate lightweight", budget: 1.5, operations: { $0 },
            ours: { workspace, rows in
                let store = try workspace.ownFilledStore(rows)
                return Trial(store: store, changesStore: true) {
                    try Stack(store: store, model: next).close()
                    return Checksum()
                }
            },
            baseline: { workspace, rows in
                let store = try workspace.ownFilledStore(rows)
                let definitions = try definitions(workspace)
                let database = try Baseline(path: store)
                return Trial(store: store, changesStore: true) {
                    try database.migrate(definitions)
                    return Checksum()
                }
            }),
        Work(
            title: objectByObject, budget: nil, operations: { $0 },
            ours: { workspace, rows in
                let store = try workspace.filledStore(rows)
                let target = workspace.newStore()
                let manager = NSMigrationManager(sourceModel: Stack.model, destinationModel: next)
                manager.usesStoreSpecificMigrationManager = false
                let mapping = try NSMappingModel.inferredMappingModel(
                    forSourceModel: Stack.model, destinationModel: next)
                return Trial(store: target, changesStore: true) {
                    try manager.migrateStore(from: store, type: .sqlite, mapping: mapping, to: target, type: .sqlite)
                    return Checksum()
                }
            },
            baseline: { workspace, rows in
                let store = try workspace.filledStore(rows)
                let target = workspace.newStore()
                try Stack(store: target, model: next).close()
                let source = try Baseline(path: store)
                let database = try Baseline(path: target)
                return Trial(store: target, changesStore: true) {
                    try database.takeRows(of: source)
                    return Checksum()
                }
            }),
    ]

    static func report(_ options: Options, _ bench: Bench) throws {
        let works = all.filter { options.only.map($0.title.contains) ?? true }
        guard !works.isEmpty else { return }
        let rounds = min(options.rounds, 3)
        print("A store of \(Main.grouped(options.migratedRows)) rows migrates, median of \(rounds) rounds\n")
        var table = Table(
            header: ["", "Core Data", "C API", "ratio", "budget", "rows a second", "peak memory", "C API’s"])
        for work in works {
            let result = try bench.measure(work, objects: options.migratedRows, rounds: rounds)
            table.add([
                work.title, Main.milliseconds(result.ours), Main.milliseconds(result.baseline),
                String(format: "%.2f", result.ratio), work.budget.map { String(format: "%.2f", $0) } ?? "",
                Main.grouped(Int(Double(options.migratedRows) / result.ours)),
                Main.megabytes(try bench.memory(work, isOurs: true, objects: options.migratedRows)),
                Main.megabytes(try bench.memory(work, isOurs: false, objects: options.migratedRows)),
            ])
        }
        print(table.text + "\n")
        for work in works where work.title == objectByObject {
            print("What it takes in memory to \(work.title), as the number of rows grows\n")
            var growth = Table(header: ["rows", "Core Data", "C API"])
            for rows in [100_000, 400_000] {
                growth.add([
                    Main.grouped(rows), Main.megabytes(try bench.memory(work, isOurs: true, objects: rows)),
                    Main.megabytes(try bench.memory(work, isOurs: false, objects: rows)),
                ])
            }
            print(growth.text + "\n")
        }
    }

    private static let objectByObject = "migrate object by object"

    /// The next version of the model. Its objects have no class of their own: a class belongs to one entity.
    static let next: NSManagedObjectModel = {
        let model = ItemModel.make()
        guard let item = model.entities.first else { return model }
        item.managedObjectClassName = "NSManagedObject"
        for case let attribute as NSAttributeDescription in item.properties where attribute.name == "title" {
            attribute.name = "headline"
            attribute.renamingIdentifier = "title"
        }
        let rating = NSAttributeDescription()
        rating.name = "rating"
        rating.attributeType = .integer16AttributeType
        rating.isOptional = false
        rating.defaultValue = 3
        item.properties.append(rating)
        return model
    }()

    /// The table and the indexes of the next version, as SQL.
    private static func definitions(_ workspace: Workspace) throws -> [String] {
        let store = workspace.newStore()
        try Stack(store: store, model: next).close()
        return try Baseline(path: store).definitions(of: "ZITEM")
    }
}

extension Baseline {
    fileprivate func definitions(of table: String) throws -> [String] {
        let statement = try prepare("SELECT sql FROM sqlite_master WHERE tbl_name = '\(table)' AND sql IS NOT NULL")
        defer { sqlite3_finalize(statement) }
        var found: [String] = []
        while try step(statement) { found.append(String(cString: sqlite3_column_text(statement, 0))) }
        return found
    }

    /// What the migration comes to: checks that no row is of an unknown entity, and moves all rows into the new table.
    fileprivate func migrate(_ definitions: [String]) throws {
        try execute("BEGIN EXCLUSIVE")
        try execute("SELECT Z_PK FROM ZITEM WHERE Z_ENT IS NULL OR NOT (Z_ENT = 1) LIMIT 1")
        try execute("ALTER TABLE ZITEM RENAME TO _T_ZITEM")
        for definition in definitions where definition.hasPrefix("CREATE TABLE") { try execute(definition) }
        try execute(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZUID, ZHEADLINE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED, ZRATING)
            SELECT Z_PK, 1, Z_OPT, ZUID, ZTITLE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED, 3 FROM _T_ZITEM WHERE Z_ENT = 1
            """)
        try execute("DROP TABLE _T_ZITEM")
        for definition in definitions where !definition.hasPrefix("CREATE TABLE") { try execute(definition) }
        try execute("COMMIT")
    }

    /// Reads the rows of another file one by one, and writes each; the indexes are made at last.
    fileprivate func takeRows(of source: Baseline) throws {
        let indexes = try definitions(of: "ZITEM").filter { !$0.hasPrefix("CREATE TABLE") }
        let select = try source.prepare(
            "SELECT Z_PK, Z_ENT, ZUID, ZTITLE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED FROM ZITEM")
        let insert = try prepare(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZUID, ZHEADLINE, ZCOUNT, ZPRICE, ZCREATEDAT, ZISFLAGGED, ZRATING)
            VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, 3)
            """)
        defer {
            sqlite3_finalize(select)
            sqlite3_finalize(insert)
        }
        try execute("BEGIN IMMEDIATE")
        try execute("DROP INDEX Z_Item_UNIQUE_uid")
        while try source.step(select) {
            for column in 0..<Int32(8) {
                sqlite3_bind_value(insert, column + 1, sqlite3_column_value(select, column))
            }
            try finish(insert)
        }
        for index in indexes { try execute(index) }
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT MAX(Z_PK) FROM ZITEM) WHERE Z_NAME = 'Item'")
        try execute("COMMIT")
    }
}
