import Foundation
import SQLiteConnection

/// What somebody may have done to a store with plain SQL, or to its file.
struct Damage {
    private let connection: Connection
    /// What was done, for those who look at a finding.
    private(set) var statements: [String] = []
    /// Whether only values were changed, so that what is saved afterwards must be there.
    private(set) var keepsStructure = true

    private static let tables = [
        "ZITEM", "ZPART", "ZTAG", "ZOWNER", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION",
        "ATRANSACTIONSTRING",
    ]

    init(_ path: String) throws {
        connection = try Connection(path: path, mode: .readWrite)
        for name in ["NSCoreDataToUpper", "NSCoreDataToLower", "NSCoreDataCanonical", "NSCoreDataNow"] {
            try connection.register(function: name, argumentCount: -1) { _ in .null }
        }
        for name in [
            "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        ] {
            try connection.register(function: name, argumentCount: -1) { _ in .null }
        }
    }

    /// Does one thing; nothing where SQLite refuses it.
    mutating func next(_ choices: inout Choices) {
        switch choices.number(below: 16) {
        case 0..<8: changeValue(&choices)
        case 8: bookkeeping(&choices)
        case 9: metadata(&choices)
        case 10: modelCache(&choices)
        case 11: history(&choices)
        case 12: pairs(&choices)
        case 13: rows(&choices)
        default: structure(&choices)
        }
    }

    private mutating func run(_ sql: String) {
        statements.append(sql)
        try? connection.execute(sql)
    }

    // MARK: Values

    private static let values = [
        "NULL", "0", "-1", "1", "2", "9223372036854775807", "-9223372036854775808", "9223372036854775806", "32768",
        "65536", "4294967296", "16001", "99", "1.5", "1e400", "-1e400", "1e18", "9.3e18", "-0.0", "'text'", "''",
        "'9e999'", "'1e400'", "'NaN'", "'-'", "'1e-300'", "'12345678901234567890123456789012345678901234567890'",
        "x''", "x'00'", "x'FF'", "x'01'", "x'02'", "CAST(x'C328FF' AS TEXT)", "CAST(x'6100620063' AS TEXT)",
        "x'02' || CAST('../../../../etc/passwd' AS BLOB) || x'00'", "zeroblob(16)", "zeroblob(100000)",
        "x'9A3F00C77F41E2B8D15C6600AA17F00D9A3F00C77F41E2B8D15C6600AA17F00D'",
        "CAST(x'02' || CAST('00000000-0000-0000-0000-000000000000' AS BLOB) || x'00' AS BLOB)", "'http://[::1'",
        "CAST(x'EDA080' AS TEXT)", "'00000000-0000-0000-0000-000000000000'",
        "x'62706C6973743030D4010203040506070A582476657273696F6E'",
    ]

    private func columns(of table: String) -> [String] { (try? connection.columnNames(ofTable: table)) ?? [] }

    private func tableNames() -> [String] { ((try? connection.tableNames()) ?? []).sorted() }

    private mutating func changeValue(_ choices: inout Choices) {
        let table = choices.one(of: Self.tables + tableNames().filter { !Self.tables.contains($0) })
        let columns = columns(of: table)
        guard !columns.isEmpty else { return }
        let column = choices.one(of: columns)
        let value = choices.one(of: Self.values)
        let place = choices.number(below: 4) == 0 ? "" : " WHERE rowid % 5 = \(choices.number(below: 5))"
        run("UPDATE OR IGNORE \"\(table)\" SET \"\(column)\" = \(value)\(place)")
    }

    // MARK: What the store says of itself

    private mutating func bookkeeping(_ choices: inout Choices) {
        run(
            choices.one(of: [
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775806", "UPDATE Z_PRIMARYKEY SET Z_MAX = 0",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = -1", "UPDATE Z_PRIMARYKEY SET Z_MAX = -9223372036854775808",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 'a'", "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL",
                "DELETE FROM Z_PRIMARYKEY", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'",
                "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Comic'", "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 16000",
                "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Item'", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'x' || Z_NAME",
                "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 - Z_ENT",
                "UPDATE Z_PRIMARYKEY SET Z_ENT = -Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_ENT = 9223372036854775807 - Z_ENT",
                "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Item', 0, 5)",
                "INSERT INTO Z_PRIMARYKEY VALUES (9223372036854775807, 'Extra', 0, 5)",
                "INSERT INTO Z_PRIMARYKEY VALUES (-9223372036854775808, NULL, -1, -5)",
                "UPDATE Z_PRIMARYKEY SET Z_ENT = CASE Z_ENT WHEN 1 THEN 16002 ELSE Z_ENT END WHERE Z_ENT <> 16002",
                "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'Item' THEN 'Tag' WHEN 'Tag' THEN 'Item' ELSE Z_NAME END",
            ]))
        keepsStructure = false
    }

    private mutating func metadata(_ choices: inout Choices) {
        keepsStructure = false
        switch choices.number(below: 4) {
        case 0:
            run(
                choices.one(of: [
                    "DELETE FROM Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = x''",
                    "UPDATE Z_METADATA SET Z_UUID = NULL",
                    "UPDATE Z_METADATA SET Z_UUID = ''", "UPDATE Z_METADATA SET Z_UUID = '/../%00 x?y'",
                    "UPDATE Z_METADATA SET Z_PLIST = 'text'", "UPDATE Z_METADATA SET Z_PLIST = 7",
                    "INSERT INTO Z_METADATA SELECT 0, Z_UUID, x'00' FROM Z_METADATA",
                    "INSERT INTO Z_METADATA SELECT 2, 'B', Z_PLIST FROM Z_METADATA",
                    "UPDATE Z_METADATA SET Z_PLIST = zeroblob(1000000)",
                ]))
        case 1: damageBlob("Z_METADATA", "Z_PLIST", &choices)
        default: replaceMetadata(&choices)
        }
    }

    /// Puts a value of a wrong type, or none, where Core Data keeps one of its own.
    private mutating func replaceMetadata(_ choices: inout Choices) {
        let key = choices.one(of: [
            "NSStoreModelVersionHashes", "NSStoreModelVersionHashesVersion", "NSStoreModelVersionIdentifiers",
            "NSStoreType", "PippinVersionHashes", "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel",
            "NSStoreModelVersionChecksumKey", "PippinDeferredMigrationTasks",
        ])
        let hostile: [Any?] = [
            nil, 7, -1.5, "text", Data([1, 2]), [1, "a"], ["Item": 7], ["Item": Data()], ["": Data([1])], Date(),
            ["Item": ["x": [1]]], [["a": "b"]], ["a", "b"],
            [["ZITEM"], ["Z_METADATA"], ["ZITEM", "ZTITLE"], ["nothing"], []],
        ]
        let value = choices.one(of: hostile)
        guard let read = try? connection.prepare("SELECT Z_PLIST FROM Z_METADATA"), (try? read.step()) == true,
            let list = try? PropertyListSerialization.propertyList(from: read.data(at: 0), options: [], format: nil),
            var metadata = list as? [String: Any]
        else { return }
        read.reset()
        metadata[key] = value
        let data = try? PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        write(data ?? Data(), "Z_METADATA", "Z_PLIST")
        statements.append("-- metadata \(key) = \(value ?? "nothing")")
    }

    private mutating func modelCache(_ choices: inout Choices) {
        switch choices.number(below: 3) {
        case 0:
            run(
                choices.one(of: [
                    "DELETE FROM Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = zeroblob(100000)",
                    "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL", "UPDATE Z_MODELCACHE SET Z_CONTENT = 'text'",
                    "INSERT INTO Z_MODELCACHE SELECT x'00' FROM Z_MODELCACHE", "DROP TABLE Z_MODELCACHE",
                ]))
        default: damageBlob("Z_MODELCACHE", "Z_CONTENT", &choices)
        }
        // Without its own model, or with a damaged one, a store opens as long as its hashes fit; they do.
    }

    private mutating func damageBlob(_ table: String, _ column: String, _ choices: inout Choices) {
        guard let read = try? connection.prepare("SELECT \(column) FROM \(table)"), (try? read.step()) == true else {
            return
        }
        var data = read.data(at: 0)
        read.reset()
        for _ in 0...choices.number(below: 4) where !data.isEmpty {
            let place = data.startIndex + choices.number(below: data.count)
            if choices.number(below: 8) == 0 { data = data.prefix(upTo: place) } else { data[place] = choices.byte() }
        }
        write(data, table, column)
        statements.append("-- \(table).\(column) damaged")
    }

    private func write(_ data: Data, _ table: String, _ column: String) {
        guard let update = try? connection.prepare("UPDATE \(table) SET \(column) = ?") else { return }
        try? update.bind(data, at: 1)
        try? update.run()
    }

    // MARK: Rows

    private mutating func history(_ choices: inout Choices) {
        run(
            choices.one(of: [
                "UPDATE ACHANGE SET ZCHANGETYPE = 99", "UPDATE ACHANGE SET ZCOLUMNS = x'9A3F00C77F41E2B8D1'",
                "UPDATE ACHANGE SET ZCOLUMNS = zeroblob(100000)",
                "UPDATE ACHANGE SET ZCHANGETYPE = 1, ZCOLUMNS = 'text'",
                "UPDATE ACHANGE SET ZENTITY = 9223372036854775807", "UPDATE ACHANGE SET ZENTITYPK = -1",
                "UPDATE ACHANGE SET ZTRANSACTIONID = 1", "UPDATE ATRANSACTION SET ZTIMESTAMP = 1e400",
                "UPDATE ATRANSACTION SET ZTIMESTAMP = 'x'", "UPDATE ATRANSACTION SET ZTIMESTAMP = NULL",
                "UPDATE OR IGNORE ATRANSACTION SET Z_PK = 9223372036854775807 WHERE Z_PK = 1",
                "UPDATE OR IGNORE ATRANSACTION SET Z_PK = -5 WHERE Z_PK = 1",
                "UPDATE OR IGNORE ACHANGE SET Z_PK = 9223372036854775807 WHERE Z_PK = 1",
                "UPDATE ACHANGE SET ZCHANGETYPE = 2, ZTOMBSTONE0 = 7, ZTOMBSTONE1 = 'x'",
                "UPDATE ACHANGE SET ZCHANGETYPE = 2, ZTOMBSTONE0 = x'00', ZTOMBSTONE1 = 1e400",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = 16001",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = 16002",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = 16003",
                "DELETE FROM ATRANSACTIONSTRING", "DELETE FROM ATRANSACTION", "DELETE FROM ACHANGE",
                "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE7", "ALTER TABLE ACHANGE RENAME ZTOMBSTONE0 TO ZTOMBSTONEX",
                "DROP TABLE ATRANSACTIONSTRING", "DROP TABLE ACHANGE", "DROP TABLE ATRANSACTION",
            ]))
        keepsStructure = false
    }

    private mutating func pairs(_ choices: inout Choices) {
        guard let table = tableNames().filter({ $0.hasPrefix("Z_") && !Self.tables.contains($0) }).randomless(&choices)
        else { return }
        let columns = columns(of: table)
        guard columns.count > 1 else { return }
        let values = (0..<columns.count).map { _ in choices.one(of: Self.values) }.joined(separator: ", ")
        run("INSERT INTO \"\(table)\" VALUES (\(values))")
        let order = columns.first { $0.contains("FOK") } ?? columns[0]
        let keys = ["0", "NULL", "9223372036854775807", "-9223372036854775808", "9223372036854775807 - rowid", "'x'"]
        run("UPDATE OR IGNORE \"\(table)\" SET \"\(order)\" = \(choices.one(of: keys))")
    }

    private mutating func rows(_ choices: inout Choices) {
        run(
            choices.one(of: [
                "DELETE FROM ZITEM", "DELETE FROM ZOWNER", "DELETE FROM ZPART", "DELETE FROM ZTAG",
                "UPDATE ZITEM SET Z_ENT = 99", "UPDATE ZITEM SET Z_ENT = NULL", "UPDATE ZITEM SET Z_ENT = 3",
                "UPDATE ZPART SET Z_ENT = 1", "UPDATE ZITEM SET Z_OPT = 9223372036854775807",
                "UPDATE ZITEM SET Z_OPT = NULL", "UPDATE ZITEM SET Z_OPT = -9223372036854775808",
                "UPDATE ZITEM SET Z_OPT = 'x'",
                "UPDATE ZITEM SET Z_PK = -Z_PK", "UPDATE ZITEM SET Z_PK = 0 WHERE Z_PK = 2",
                "UPDATE ZITEM SET Z_PK = 9223372036854775807 WHERE Z_PK = 2",
                "UPDATE ZPART SET Z_FOK_ITEM = 9223372036854775807",
                "UPDATE ZPART SET Z_FOK_ITEM = -9223372036854775808",
                "UPDATE ZPART SET Z_FOK_ITEM = 9223372036854775807 - Z_PK", "UPDATE ZPART SET Z_FOK_ITEM = 5",
                "UPDATE ZPART SET ZITEM = 4", "UPDATE ZPART SET ZITEM = 77, Z1_ITEM = 77",
                "UPDATE ZITEM SET ZOWNER = 77",
                "UPDATE ZOWNER SET ZFAVORITE = Z_PK, Z1_FAVORITE = 99",
            ]))
    }

    // MARK: Structure

    private mutating func structure(_ choices: inout Choices) {
        keepsStructure = false
        let table = choices.one(of: Self.tables)
        let column = columns(of: table).randomless(&choices) ?? "Z_PK"
        let index = choices.number(below: 24)
        switch index {
        case 0: run("DROP TABLE \(table)")
        case 1: run("ALTER TABLE \(table) RENAME TO OTHER")
        case 2: run("ALTER TABLE \(table) RENAME \"\(column)\" TO OTHER")
        case 3: run("ALTER TABLE \(table) DROP COLUMN \"\(column)\"")
        case 4: run("ALTER TABLE \(table) ADD COLUMN ZEXTRA NOT NULL DEFAULT 5")
        case 5: run("ALTER TABLE \(table) ADD COLUMN ZEXTRA AS (Z_PK / 0)")
        case 6:
            run("ALTER TABLE \(table) RENAME TO OTHER")
            run("CREATE VIEW \(table) AS SELECT * FROM OTHER")
        case 7, 8:
            let event = choices.one(of: ["INSERT", "UPDATE", "DELETE"])
            let body = choices.one(of: [
                "SELECT RAISE(ABORT, 'no')", "SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')",
                "SELECT RAISE(ROLLBACK, 'no')",
                "DELETE FROM \(table)", "UPDATE \(table) SET Z_PK = Z_PK + 100", "SELECT missing()",
                "INSERT INTO \(table) DEFAULT VALUES",
            ])
            let time = choices.one(of: ["BEFORE", "AFTER"])
            run("CREATE TRIGGER hostile \(time) \(event) ON \(table) BEGIN \(body); END")
        case 9:
            run("CREATE TABLE copied AS SELECT * FROM \(table)")
            run("DROP TABLE \(table)")
            run("ALTER TABLE copied RENAME TO \(table)")
        case 10:
            let names = columns(of: table).map { $0 == "Z_PK" ? "Z_PK INTEGER PRIMARY KEY" : "\"\($0)\"" }
            run("ALTER TABLE \(table) RENAME TO OTHER")
            run("CREATE TABLE \(table) (\(names.joined(separator: ", "))) WITHOUT ROWID")
            run("INSERT INTO \(table) SELECT * FROM OTHER")
        case 11:
            run("PRAGMA writable_schema = ON")
            run(
                "UPDATE sqlite_master SET sql = \(choices.one(of: ["'CREATE'", "NULL", "x'00'", "sql || ' x'"])) "
                    + "WHERE name = '\(table)'")
            run("PRAGMA writable_schema = OFF")
        case 12: run("CREATE UNIQUE INDEX hostile ON \(table) (\"\(column)\")")
        case 13: run("CREATE INDEX hostile ON \(table) (\"\(column)\" COLLATE NSCollateNoCase)")
        case 14: run("PRAGMA user_version = -1; PRAGMA application_id = 77; PRAGMA journal_mode = DELETE")
        case 15:
            run("DROP TABLE \(table)")
            run("CREATE VIRTUAL TABLE \(table) USING fts5(Z_PK, Z_ENT, Z_OPT)")
        case 16: run("CREATE TABLE \(table)2 (x CHECK (x > 5)); CREATE TABLE \"Z_9\"\"x;'\" (a)")
        case 17:
            for name in tableNames() { run("DROP TABLE IF EXISTS \"\(name)\"") }
        default: names(&choices)
        }
    }

    // MARK: Names

    /// Renames, doubles and swaps tables and columns, and takes them away: join tables, too.
    private mutating func names(_ choices: inout Choices) {
        let tables = tableNames().filter { $0.hasPrefix("Z") && !$0.hasPrefix("Z_P") && !$0.hasPrefix("Z_M") }
        guard let table = tables.randomless(&choices), let other = tables.randomless(&choices) else { return }
        let columns = columns(of: table).filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0) }
        let column = columns.randomless(&choices) ?? "Z_OPT"
        let second = columns.randomless(&choices) ?? "Z_OPT"
        func rename(_ old: String, _ new: String) {
            run("ALTER TABLE \"\(table)\" RENAME COLUMN \"\(old)\" TO \"\(new)\"")
        }
        let name = choices.one(of: [
            column + "1", column + "12", String(column.prefix(4)), column.lowercased(), "Z", "Z_9X", "Z_FOK_X", "Z7_X",
            "Z3NAMES", column.replacing("I", with: "İ"), String(column.dropFirst()),
        ])
        switch choices.number(below: 8) {
        case 0: rename(column, name)
        case 1:
            rename(column, "swapped")
            rename(second, column)
            rename("swapped", second)
        case 2:
            run(
                "ALTER TABLE \"\(table)\" ADD COLUMN \"\(name)\" \(choices.one(of: ["INTEGER", "VARCHAR", "BLOB", ""]))"
            )
        case 3: run("ALTER TABLE \"\(table)\" DROP COLUMN \"\(column)\"")
        case 4: run("ALTER TABLE \"\(table)\" RENAME TO \"\(table)\(choices.one(of: ["1", "X", "_"]))\"")
        case 5:
            run("ALTER TABLE \"\(table)\" RENAME TO swapped")
            run("ALTER TABLE \"\(other)\" RENAME TO \"\(table)\"")
            run("ALTER TABLE swapped RENAME TO \"\(other)\"")
        case 6: run("CREATE TABLE \"\(table)1\" AS SELECT * FROM \"\(table)\"")
        default: run("DROP TABLE \"\(table)\"")
        }
    }
}

extension Array {
    /// One of the elements as the choices say; `nil` of none.
    fileprivate func randomless(_ choices: inout Choices) -> Element? { isEmpty ? nil : choices.one(of: self) }
}
