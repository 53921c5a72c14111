import StoreSession

extension ModelReader {
    /// The rows of a statement, as values of a type.
    ///
    /// ```swift
    /// struct Sales: Decodable { let month: String; let total: Decimal }
    /// let sales = try store.rows(Sales.self, """
    ///     SELECT strftime('%Y-%m', \(date: \Order.placed)) AS month, sum(\(\Order.total)) AS total
    ///     FROM \(Order.self) WHERE \(\Order.placed) >= \(start) GROUP BY 1
    ///     """)
    /// ```
    ///
    /// The statement is one `SELECT` in the database's own SQL; nothing that changes anything is run. Properties of the
    /// type are read from the columns of their names; a type that is a single value, such as `Int`, from the only
    /// column.
    ///
    /// - Parameters:
    ///   - type: the type of the rows.
    ///   - sql: the statement.
    /// - Returns: a value for each row.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a property without a column, `unreadable` for a column
    ///   that is missing or does not have such values, and `readFailed` for a statement that the database refuses, that
    ///   does more than read, or in a block with changes that are not saved yet.
    /// - SQL: the statement, with a parameter for each value
    public func rows<Row: Decodable>(_ type: Row.Type, _ sql: SQLText) throws -> [Row] {
        let written = try sql.written(access)
        guard !access.hasChanges, let source = try access.source() as? StoreRows else {
            throw PersistenceError(
                .readFailed,
                "SQL reads what is stored, and this block has changes that are not stored yet. Ask before changing anything, "
                    + "or in a block of its own.")
        }
        return try PersistenceError.explaining(.readFailed) {
            if let model = type as? any CoreModel.Type, let rows = try models(model, written, source) as? [Row] {
                return rows
            }
            var columns = SQLColumns([])
            var rows: [Row] = []
            var decoder: SQLRowDecoder?
            // Foundation's types decode in forms of their own.
            let isSingle = AttributeKind(of: type) != nil
            try source.scope.reading(source.session) {
                try source.session.read(written) {
                    columns = SQLColumns($0)
                } row: { row in
                    let current = decoder ?? SQLRowDecoder(columns, row)
                    decoder = current
                    current.beginRow()
                    if isSingle {
                        rows.append(try SQLValueDecoder(current.only(), columns.first).decode(type))
                    } else {
                        rows.append(try Row(from: current))
                    }
                    return true
                }
            }
            return rows
        }
    }

    /// The rows of a statement as models, by the functions that the macro has made; nil for models without such
    /// functions, and for those that are more than single values. A row that these functions do not read is decoded
    /// like any other type.
    ///
    /// - Returns: the list of models.
    private func models<Model: CoreModel>(
        _ type: Model.Type, _ written: WrittenSQL, _ source: StoreRows
    ) throws -> Any? {
        guard let plan = try? access.fetcher(type).plan, plan.relationships.isEmpty,
            let functions = plan.record.columns?.functions(of: type),
            plan.record.attributeKinds.allSatisfy({ $0 != nil })
        else { return nil }
        var reader: RowDecoder?
        var other: SQLRowDecoder?
        var columns = SQLColumns([])
        defer { reader?.finish() }
        var models: [Model] = []
        try source.scope.reading(source.session) {
            try source.session.read(written) {
                columns = SQLColumns($0)
                let slots = ContiguousArray(plan.record.keys.map { columns.place($0) ?? -1 })
                reader = RowDecoder(plan.record, entity: plan.name, slots: slots)
            } row: { row in
                if let reader, let model = try? reader.decode(by: functions, from: row) {
                    models.append(model)
                } else {
                    let decoder = other ?? SQLRowDecoder(columns, row)
                    other = decoder
                    decoder.beginRow()
                    models.append(try Model(from: decoder))
                }
                return true
            }
        }
        return models
    }
}

extension PersistenceManager {
    /// The rows of a statement, as values of a type.
    ///
    /// ```swift
    /// struct Sales: Decodable, Sendable { let month: String; let total: Decimal }
    /// let sales = try await manager.rows(Sales.self, """
    ///     SELECT strftime('%Y-%m', \(date: \Order.placed)) AS month, sum(\(\Order.total)) AS total
    ///     FROM \(Order.self) WHERE \(\Order.placed) >= \(start) GROUP BY 1
    ///     """)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of the rows.
    ///   - sql: the statement: one `SELECT` in the database's own SQL.
    /// - Returns: a value for each row.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a property without a column, `unreadable` for a column
    ///   that is missing or does not have such values, and `readFailed` for a statement that the database refuses or
    ///   that does more than read.
    /// - SQL: the statement, with a parameter for each value
    public func rows<Row: Decodable & Sendable>(_ type: Row.Type, _ sql: SQLText) async throws -> [Row] {
        try await asking { try $0.rows(type, sql) }
    }
}
