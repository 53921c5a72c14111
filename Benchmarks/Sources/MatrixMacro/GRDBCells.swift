// Compiled where `make bench GRDB=…` names a checkout of GRDB, which the package does not depend on otherwise.
#if GRDB_COLUMN && !BY_CODING
    import Foundation
    import GRDB

    extension Matrix {
        /// In its fastest documented form: a cached statement, rows by index, one cursor.
        static func grdbFetch<Model: Shape>(_ type: Model.Type) -> [Side] {
            [
                reading(Model.self) { database in
                    try database.read { store in
                        let sql = "SELECT \(Model.columns.joined(separator: ", ")) FROM \(Model.table)"
                        let rows = try Row.fetchCursor(try store.cachedStatement(sql: sql))
                        var models: [Model] = []
                        models.reserveCapacity(Model.count)
                        while let row = try rows.next() { models.append(Model(row: GRDBRow(row: row), at: 0)) }
                        var sum = Sum()
                        for model in models { model.add(to: &sum) }
                        return [sum.total, UInt64(models.count)]
                    }
                }
            ]
        }

        static func grdbFind<Model: Shape>(_ type: Model.Type) -> [Side] {
            [
                reading(Model.self) { database in
                    try database.read { store in
                        let sql = "SELECT \(Model.columns.joined(separator: ", ")) FROM \(Model.table) WHERE ZID = ?"
                        let statement = try store.cachedStatement(sql: sql)
                        var sum = Sum()
                        for id in Model.someIDs(5_000) {
                            var values = GRDBValues()
                            Model.bind(id: id, to: &values)
                            let rows = try Row.fetchCursor(
                                statement, arguments: StatementArguments(values.values))
                            if let row = try rows.next() { Model(row: GRDBRow(row: row), at: 0).add(to: &sum) }
                        }
                        return [sum.total]
                    }
                }
            ]
        }

        static func grdbInsert<Model: Shape>(_ type: Model.Type) -> [Side] {
            [
                Side(name: "GRDB") { folder in
                    let file = try Stores<Model>.copy(try await Stores<Model>.empty(in: folder))
                    let database = try DatabaseQueue(path: file.path, configuration: configuration)
                    let models = Model.make()
                    return Run(
                        work: {
                            try database.write { store in
                                let marks = Array(repeating: "?", count: Model.columns.count + 1)
                                let statement = try store.cachedStatement(
                                    sql: """
                                        INSERT INTO \(Model.table)
                                        (Z_ENT, Z_OPT, Z_PK, \(Model.columns.joined(separator: ", ")))
                                        VALUES (1, 1, \(marks.joined(separator: ", ")))
                                        """)
                                for (index, model) in models.enumerated() {
                                    var values = GRDBValues()
                                    values.integer(Int64(index + 1))
                                    model.bind(to: &values)
                                    statement.setUncheckedArguments(StatementArguments(values.values))
                                    try statement.execute()
                                }
                            }
                            return []
                        },
                        finish: {
                            try database.close()
                            return try Model.outcome(file)
                        })
                }
            ]
        }

        private static var configuration: Configuration {
            var configuration = Configuration()
            // What the other sides run with.
            configuration.prepareDatabase {
                try $0.execute(sql: "PRAGMA journal_mode = WAL")
                try $0.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            return configuration
        }

        private static func reading<Model: Shape>(
            _ type: Model.Type, _ work: @escaping @Sendable (DatabaseQueue) throws -> Outcome
        ) -> Side {
            Side(name: "GRDB") { folder in
                let file = try await Stores<Model>.filled(in: folder)
                let database = try DatabaseQueue(path: file.path, configuration: configuration)
                return Run(
                    work: { try work(database) },
                    finish: {
                        try database.close(); return []
                    })
            }
        }
    }

    private struct GRDBRow: RowReader {
        let row: Row
        @inline(__always) func isNull(_ column: Int) -> Bool { row.hasNull(atIndex: column) }
        @inline(__always) func integer(_ column: Int) -> Int64 { row[column] }
        @inline(__always) func double(_ column: Int) -> Double { row[column] }
        @inline(__always) func text(_ column: Int) -> String { row[column] }
        @inline(__always) func data(_ column: Int) -> Data { row[column] }
        @inline(__always) func uuid(_ column: Int) -> UUID { row[column] }
    }

    private struct GRDBValues: ColumnWriter {
        var values: [(any DatabaseValueConvertible)?] = []
        mutating func null() { values.append(nil) }
        mutating func integer(_ value: Int64) { values.append(value) }
        mutating func double(_ value: Double) { values.append(value) }
        mutating func text(_ value: String) { values.append(value) }
        mutating func data(_ value: Data) { values.append(value) }
        mutating func uuid(_ value: UUID) { values.append(value) }
    }
#else
    extension Matrix {
        static func grdbFetch<Model: Shape>(_ type: Model.Type) -> [Side] { [] }
        static func grdbFind<Model: Shape>(_ type: Model.Type) -> [Side] { [] }
        static func grdbInsert<Model: Shape>(_ type: Model.Type) -> [Side] { [] }
    }
#endif
