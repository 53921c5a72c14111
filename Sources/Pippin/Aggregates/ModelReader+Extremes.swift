// The least and the greatest values. Those of an enumeration are by the order of its type.
extension ModelReader {
    /// The smallest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Value? { try compute(.min(property), where: filter) }

    /// The smallest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the smallest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT min(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func min<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Value? { try compute(.min(property), where: filter) }

    /// The smallest value of a property for each value of another one.
    ///
    /// ```swift
    /// let cheapestByAuthor = try store.min(Book.self, \.price, by: \.author?.name)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the smallest values, by value of the other property; groups in which no model has a value are left
    ///   out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, min(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func min<Model: CoreModel, Value: Comparable & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try compute(.min(property), by: group, where: filter) }

    /// The smallest value of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the smallest values, by value of the other property; groups in which no model has a value are left
    ///   out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, min(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func min<Model: CoreModel, Value: Comparable & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try compute(.min(property), by: group, where: filter) }

    /// The greatest value of a property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Value? { try compute(.max(property), where: filter) }

    /// The greatest value of an optional property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the greatest value; `nil` if no model has one.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT max(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func max<Model: CoreModel, Value: Comparable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Value? { try compute(.max(property), where: filter) }

    /// The greatest value of a property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the greatest values, by value of the other property; groups in which no model has a value are left
    ///   out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, max(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func max<Model: CoreModel, Value: Comparable & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try compute(.max(property), by: group, where: filter) }

    /// The greatest value of an optional property for each value of another one.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the greatest values, by value of the other property; groups in which no model has a value are left
    ///   out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, and what `count` throws.
    /// - SQL: `SELECT <group>, max(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    public func max<Model: CoreModel, Value: Comparable & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Value] { try compute(.max(property), by: group, where: filter) }
}
