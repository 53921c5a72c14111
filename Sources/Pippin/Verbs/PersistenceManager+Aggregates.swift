// Aggregates that the store computes, one call each.
extension PersistenceManager {
    /// How many models a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: the number of models.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read, and what `load()` throws if the store is not
    ///   open yet.
    /// - SQL: `SELECT count(*) FROM Z<ENTITY> WHERE <filter>`
    public func count<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all
    ) async throws -> Int {
        try await asking(oneStatementAbout: type) { try $0.count(type, where: filter) }
    }

    /// Whether there is a model that a filter selects.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - filter: what must hold.
    /// - Returns: `true` when there is at least one.
    /// - Throws: ``PersistenceError`` with `unknownProperty`, `notComparable` or `keptAsJSON` for a filter that the
    ///   store cannot evaluate, `readFailed` if the store cannot be read, and what `load()` throws if the store is not
    ///   open yet.
    /// - SQL: `SELECT Z_PK FROM Z<ENTITY> WHERE <filter> LIMIT 1`
    public func exists<Model: CoreModel>(
        _ type: Model.Type, where filter: Filter<Model> = .all
    ) async throws -> Bool {
        try await asking(oneStatementAbout: type) { try $0.exists(type, where: filter) }
    }

    /// Whether there is a model with an identifier.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: the identifier.
    /// - Returns: `true` when there is one.
    /// - Throws: ``PersistenceError`` with `readFailed` if the store cannot be read, and what `load()` throws if the
    ///   store is not open yet.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z<ID> = ?`
    public func exists<Model: CoreModel>(
        _ type: Model.Type, id: Model.ID
    ) async throws -> Bool {
        #if !canImport(ObjectiveC)
            try await openIfNeeded()
            if let exists = try existsAtOnce(type, id: id) { return exists }
        #endif
        return try await asking(oneStatementAbout: type) { try $0.exists(type, id: id) }
    }

    /// The sum of a property. That of whole numbers is an `Int`, whatever their type.
    ///
    /// ```swift
    /// let worth = try await manager.sum(Book.self, \.price, where: \.author?.name == "Jane Austen")
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.sum(type, property, where: filter) }
    }

    /// The sum of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.sum(type, property, where: filter) }
    }

    /// The smallest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.min(type, property, where: filter) }
    }

    /// The smallest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.min(type, property, where: filter) }
    }

    /// The greatest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` where no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.max(type, property, where: filter) }
    }

    /// The greatest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` where no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? {
        try await asking(oneStatementAbout: type) { try $0.max(type, property, where: filter) }
    }

    /// The average of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Double? {
        try await asking(oneStatementAbout: type) { try $0.average(type, property, where: filter) }
    }

    /// The average of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Double? {
        try await asking(oneStatementAbout: type) { try $0.average(type, property, where: filter) }
    }

    /// The distinct values of a property, in order.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; `nil` is one of the values where it is optional and a model has none.
    ///   - filter: what must hold.
    /// - Returns: the values, ascending.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    public func distinct<Model: CoreModel, Value: Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> [Value] {
        try await asking(oneStatementAbout: type) { try $0.distinct(type, property, where: filter) }
    }

    /// How many models there are for each value of a property.
    ///
    /// ```swift
    /// let booksByBinding = try await manager.counts(Book.self, by: \.binding)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property; models without a value count under `nil` where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the numbers, by value; values that no model has are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <property>, count(<id>) FROM Z<ENTITY> WHERE <filter> GROUP BY <property>`
    public func counts<Model: CoreModel, Value: Hashable & Codable & Sendable>(
        _ type: Model.Type, by property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> [Value: Int] {
        try await asking(oneStatementAbout: type) { try $0.counts(type, by: property, where: filter) }
    }

    /// The sum of a property for each value of another one.
    ///
    /// ```swift
    /// let worthByAuthor = try await manager.sums(Book.self, \.price, by: \.author?.name)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Value] {
        try await asking(oneStatementAbout: type) { try $0.sums(type, property, by: group, where: filter) }
    }

    /// The sum of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Value] {
        try await asking(oneStatementAbout: type) { try $0.sums(type, property, by: group, where: filter) }
    }
}
