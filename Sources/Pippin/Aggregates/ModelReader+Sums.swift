// Sums of whole numbers, which may be more than a number of the property's own type can be.
extension ModelReader {
    /// The sum of whole numbers.
    ///
    /// ```swift
    /// let stars = try store.sum(Review.self, \.stars)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum, whatever the type of the property; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: FixedWidthInteger & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, where filter: Filter<Model> = .all
    ) throws -> Int? { try aggregate(.sum, property, filter) }

    /// The sum of an optional property's whole numbers.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: the property, of this model or of one that it leads to.
    ///   - filter: what must hold.
    /// - Returns: the sum, whatever the type of the property; `nil` where no model has a value.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    public func sum<Model: CoreModel, Value: FixedWidthInteger & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, where filter: Filter<Model> = .all
    ) throws -> Int? { try aggregate(.sum, property, filter) }

    /// The sum of whole numbers for each value of another property.
    ///
    /// ```swift
    /// let starsByBook = try store.sums(Review.self, \.stars, by: \.book)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with whole numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: FixedWidthInteger & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Int] { try sums(of: property, group, filter) }

    /// The sum of an optional property's whole numbers for each value of another property.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - property: a property with whole numbers.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - filter: what must hold.
    /// - Returns: the sums, by value; groups in which no model has a number are left out.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is no single stored
    ///   value, `readFailed` for a sum of more than 64 bits, and what `count` throws.
    /// - SQL: `SELECT <group>, ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY
    ///   <group>`
    public func sums<Model: CoreModel, Value: FixedWidthInteger & Codable, Group: Hashable & Codable>(
        _ type: Model.Type, _ property: KeyPath<Model, Value?>, by group: KeyPath<Model, Group>,
        where filter: Filter<Model> = .all
    ) throws -> [Group: Int] { try sums(of: property, group, filter) }
}
