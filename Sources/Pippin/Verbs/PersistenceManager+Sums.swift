// Sums and averages. The sum of whole numbers may be more than a number of their own type can be.
extension PersistenceManager {
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
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`, for decimals with
    ///   `PippinDecimalSum` in place of `sum`, which would round them
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? { try await compute(.sum(property), where: filter) }

    /// The sum of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`, for decimals with
    ///   `PippinDecimalSum` in place of `sum`, which would round them
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Value? { try await compute(.sum(property), where: filter) }

    /// The sum of a property for each value of another one.
    ///
    /// ```swift
    /// let worthByAuthor = try await manager.sum(Book.self, \.price, by: \.author?.name)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`, for decimals with `PippinDecimalSum` in place of `sum`, which would round them
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Value] { try await compute(.sum(property), by: group, where: filter) }

    /// The sum of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`, for decimals with `PippinDecimalSum` in place of `sum`, which would round them
    public func sum<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Value] { try await compute(.sum(property), by: group, where: filter) }

    /// The sum of whole numbers.
    ///
    /// ```swift
    /// let stars = try await manager.sum(Review.self, \.stars)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum, whatever the type of the property; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: FixedWidthInteger & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Int? { try await compute(.sum(property), where: filter) }

    /// The sum of an optional property's whole numbers.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum, whatever the type of the property; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: FixedWidthInteger & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Int? { try await compute(.sum(property), where: filter) }

    /// The sum of whole numbers for each value of another property.
    ///
    /// ```swift
    /// let starsByBook = try await manager.sum(Review.self, \.stars, by: \.book)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sum<
        Model: CoreModel, Value: FixedWidthInteger & Codable & Sendable, Group: Hashable & Codable & Sendable
    >(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Int] { try await compute(.sum(property), by: group, where: filter) }

    /// The sum of an optional property's whole numbers for each value of another property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sum<
        Model: CoreModel, Value: FixedWidthInteger & Codable & Sendable, Group: Hashable & Codable & Sendable
    >(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Int] { try await compute(.sum(property), by: group, where: filter) }

    /// The average of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Double? { try await compute(.average(property), where: filter) }

    /// The average of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - filter: what must hold.
    /// - Returns: the average; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT avg(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, where filter: Filter<Model> = .all
    ) async throws -> Double? { try await compute(.average(property), where: filter) }

    /// The average of a property for each value of another one.
    ///
    /// ```swift
    /// let starsByBook = try await manager.average(Review.self, \.stars, by: \.book)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the averages, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, avg(<property>), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Double] { try await compute(.average(property), by: group, where: filter) }

    /// The average of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the averages, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, avg(<property>), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func average<Model: CoreModel, Value: Numeric & Codable & Sendable, Group: Hashable & Codable & Sendable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?> & Sendable, by group: KeyPath<Model, Group> & Sendable,
        where filter: Filter<Model> = .all
    ) async throws -> [Group: Double] { try await compute(.average(property), by: group, where: filter) }
}
