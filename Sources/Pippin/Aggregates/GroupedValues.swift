import StoreSession

/// A value that is computed of each group of models: see `values(_:by:_:where:having:)`.
public struct GroupValue<Model: CoreModel, Value: Sendable>: Sendable {
    let function: AggregateFunction
    /// The property; nil where the models themselves are counted.
    let property: PropertyName?
    /// Makes the value of what the store computed; nil if no model of the group has one.
    fileprivate let value: @Sendable (AggregatedProperty, Any?) throws -> Value

    fileprivate init(
        _ function: AggregateFunction, _ property: PartialKeyPath<Model>?,
        _ value: @escaping @Sendable (AggregatedProperty, Any?) throws -> Value
    ) {
        (self.function, self.property, self.value) = (function, property.map { PropertyName($0) }, value)
    }
}

extension GroupValue where Value == Int {
    /// How many models there are in the group.
    public static var count: Self { Self(.count, nil) { ($1 as? NSNumber)?.intValue ?? 0 } }

    /// The sum of a property's whole numbers; 0 if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func sum<Number: FixedWidthInteger & Codable>(_ property: KeyPath<Model, Number>) -> Self {
        Self(.sum, property) { try $0.decoded($1, $0.kind(of: .sum), Int.self) ?? 0 }
    }

    /// The sum of an optional property's whole numbers; 0 if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func sum<Number: FixedWidthInteger & Codable>(_ property: KeyPath<Model, Number?>) -> Self {
        Self(.sum, property) { try $0.decoded($1, $0.kind(of: .sum), Int.self) ?? 0 }
    }
}

extension GroupValue where Value: Decodable & Numeric {
    /// The sum of a property's numbers; 0 if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    @_disfavoredOverload
    public static func sum(_ property: KeyPath<Model, Value>) -> Self {
        Self(.sum, property) { try $0.decoded($1, $0.kind(of: .sum), Value.self) ?? .zero }
    }

    /// The sum of an optional property's numbers; 0 if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    @_disfavoredOverload
    public static func sum(_ property: KeyPath<Model, Value?>) -> Self {
        Self(.sum, property) { try $0.decoded($1, $0.kind(of: .sum), Value.self) ?? .zero }
    }
}

extension GroupValue where Value == Double? {
    /// The average of a property's numbers; nil if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func average<Number: Numeric & Codable>(_ property: KeyPath<Model, Number>) -> Self {
        Self(.average, property) { try $0.decoded($1, $0.kind(of: .average), Double.self) }
    }

    /// The average of an optional property's numbers; nil if there are none.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func average<Number: Numeric & Codable>(_ property: KeyPath<Model, Number?>) -> Self {
        Self(.average, property) { try $0.decoded($1, $0.kind(of: .average), Double.self) }
    }
}

extension GroupValue {
    /// The least value of a property; nil if no model of the group has one.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func min<Wrapped: Comparable & Codable>(_ property: KeyPath<Model, Wrapped>) -> Self
    where Value == Wrapped? {
        Self(.minimum, property) { try $0.decoded($1, $0.kind(of: .minimum), Wrapped.self) }
    }

    /// The least value of an optional property; nil if no model of the group has one.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func min<Wrapped: Comparable & Codable>(_ property: KeyPath<Model, Wrapped?>) -> Self
    where Value == Wrapped? {
        Self(.minimum, property) { try $0.decoded($1, $0.kind(of: .minimum), Wrapped.self) }
    }

    /// The greatest value of a property; nil if no model of the group has one.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func max<Wrapped: Comparable & Codable>(_ property: KeyPath<Model, Wrapped>) -> Self
    where Value == Wrapped? {
        Self(.maximum, property) { try $0.decoded($1, $0.kind(of: .maximum), Wrapped.self) }
    }

    /// The greatest value of an optional property; nil if no model of the group has one.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what is computed.
    public static func max<Wrapped: Comparable & Codable>(_ property: KeyPath<Model, Wrapped?>) -> Self
    where Value == Wrapped? {
        Self(.maximum, property) { try $0.decoded($1, $0.kind(of: .maximum), Wrapped.self) }
    }
}

/// A condition on the groups of `values(_:by:_:where:having:)`: `.count > 3 && .sum(\.price) >= 100`.
public struct GroupCondition<Model: CoreModel>: Sendable {
    /// What the condition compares.
    fileprivate let terms: [GroupTerm]
    /// Decides by the values of these.
    fileprivate let holds: @Sendable (ArraySlice<any Sendable>) -> Bool

    /// Both conditions hold.
    public static func && (left: Self, right: Self) -> Self {
        Self(terms: left.terms + right.terms) {
            left.holds($0.prefix(left.terms.count)) && right.holds($0.dropFirst(left.terms.count))
        }
    }

    /// One of the conditions holds.
    public static func || (left: Self, right: Self) -> Self {
        Self(terms: left.terms + right.terms) {
            left.holds($0.prefix(left.terms.count)) || right.holds($0.dropFirst(left.terms.count))
        }
    }

    /// The condition does not hold.
    public static prefix func ! (condition: Self) -> Self { Self(terms: condition.terms) { !condition.holds($0) } }
}

extension GroupValue where Value: Comparable {
    private func compared(_ other: Value, _ holds: @escaping @Sendable (Value, Value) -> Bool) -> GroupCondition<Model>
    {
        GroupCondition(terms: [GroupTerm(self)]) { values in (values.first as? Value).map { holds($0, other) } ?? false
        }
    }

    /// Groups whose value is greater.
    public static func > (left: Self, right: Value) -> GroupCondition<Model> { left.compared(right) { $0 > $1 } }
    /// Groups whose value is greater or equal.
    public static func >= (left: Self, right: Value) -> GroupCondition<Model> { left.compared(right) { $0 >= $1 } }
    /// Groups whose value is less.
    public static func < (left: Self, right: Value) -> GroupCondition<Model> { left.compared(right) { $0 < $1 } }
    /// Groups whose value is less or equal.
    public static func <= (left: Self, right: Value) -> GroupCondition<Model> { left.compared(right) { $0 <= $1 } }
    /// Groups whose value is equal.
    public static func == (left: Self, right: Value) -> GroupCondition<Model> { left.compared(right) { $0 == $1 } }
}

/// A value of each group, whatever its type.
struct GroupTerm: Sendable {
    let function: AggregateFunction
    let property: PropertyName?
    let value: @Sendable (AggregatedProperty, Any?) throws -> any Sendable

    init<Model, Value>(_ groupValue: GroupValue<Model, Value>) {
        (function, property) = (groupValue.function, groupValue.property)
        value = { try groupValue.value($0, $1) }
    }
}

extension ModelReader {
    /// Several values of each group of models, in one statement.
    ///
    /// ```swift
    /// for (author, books, worth, latest) in try store.values(
    ///     Book.self, by: \.author?.name, .count, .sum(\.price), .max(\.year), having: .count > 3)
    /// { … }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - values: what is computed of each group: `.count`, `.sum(…)`, `.average(…)`, `.min(…)`, `.max(…)`.
    ///   - filter: what must hold for the models.
    ///   - condition: what must hold for the groups; nil for all groups.
    /// - Returns: the groups in the order of their property, each with its values.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, `readFailed` for a sum of more than 64
    ///   bits and in a block with changes that are not stored yet, and what `count` throws.
    /// - SQL: `SELECT <group>, <function>(<property>), … FROM Z<ENTITY> WHERE <filter> GROUP BY <group> ORDER BY
    ///   <group>`
    public func values<Model: CoreModel, Group: Hashable & Codable & Sendable, each Value>(
        _ type: Model.Type, by group: KeyPath<Model, Group>, _ values: repeat GroupValue<Model, each Value>,
        where filter: Filter<Model> = .all, having condition: GroupCondition<Model>? = nil
    ) throws -> [(Group, repeat each Value)] {
        try self.values(type, by: .property(group), repeat each values, where: filter, having: condition)
    }

    /// Several values of each group of models that a part of a date makes, or several properties.
    ///
    /// ```swift
    /// for (month, orders, worth) in try store.values(
    ///     Order.self, by: .start(of: .month, of: \.placed), .count, .sum(\.total))
    /// { … }
    /// for ((author, year), books) in try store.values(
    ///     Book.self, by: .keys(.property(\.author?.name), .property(\.year)), .count)
    /// { … }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - key: what makes the groups.
    ///   - values: what is computed of each group: `.count`, `.sum(…)`, `.average(…)`, `.min(…)`, `.max(…)`.
    ///   - filter: what must hold for the models.
    ///   - condition: what must hold for the groups; nil for all groups.
    /// - Returns: the groups in the order of their keys, each with its values.
    /// - Throws: what ``values(_:by:_:where:having:)-(_,KeyPath<Model,Group>,_,_,_)`` throws.
    /// - SQL: `SELECT <group>, …, <function>(<property>), … FROM Z<ENTITY> WHERE <filter> GROUP BY <group>, … ORDER BY
    ///   <group>, …`
    public func values<Model: CoreModel, Key, each Value>(
        _ type: Model.Type, by key: GroupKey<Model, Key>, _ values: repeat GroupValue<Model, each Value>,
        where filter: Filter<Model> = .all, having condition: GroupCondition<Model>? = nil
    ) throws -> [(Key, repeat each Value)] {
        var terms: [GroupTerm] = []
        for value in repeat each values { terms.append(GroupTerm(value)) }
        let selection = try access.selection(filter, access.plan(of: type))
        let groups = try GroupedRows(key.parts, terms + (condition?.terms ?? []), access, type)
        let count = terms.count
        return try PersistenceError.explaining(.readFailed) {
            try groups.read(selection).compactMap { parts, found in
                if let condition, !condition.holds(found.dropFirst(count)) { return nil }
                var place = 0
                func next<Wanted>(_ value: GroupValue<Model, Wanted>) throws -> Wanted {
                    defer { place += 1 }
                    if let value = found[place] as? Wanted { return value }
                    throw PersistenceError.unreadable(
                        entity: groups.entity, key: "\(value.function.rawValue)", reason: "it is of another type.")
                }
                guard let key = key.key(parts) else {
                    throw PersistenceError.unreadable(
                        entity: groups.entity, key: groups.path, reason: "it is of another type.")
                }
                return (key, repeat try next(each values))
            }
        }
    }
}

extension PersistenceManager {
    /// Several values of each group of models, in one statement.
    ///
    /// ```swift
    /// let rows = try await manager.values(Book.self, by: \.author?.name, .count, .sum(\.price), having: .count > 3)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - group: the property whose values make the groups; `nil` is one of them where it is optional.
    ///   - values: what is computed of each group: `.count`, `.sum(…)`, `.average(…)`, `.min(…)`, `.max(…)`.
    ///   - filter: what must hold for the models.
    ///   - condition: what must hold for the groups; nil for all groups.
    /// - Returns: the groups in the order of their property, each with its values.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `keptAsJSON` for a property that is not a single stored
    ///   value, `unreadable` for a result that is not of the property's type, `readFailed` for a sum of more than 64
    ///   bits, and what `count` throws.
    /// - SQL: `SELECT <group>, <function>(<property>), … FROM Z<ENTITY> WHERE <filter> GROUP BY <group> ORDER BY
    ///   <group>`
    public func values<Model: CoreModel, Group: Hashable & Codable & Sendable, each Value>(
        _ type: Model.Type, by group: KeyPath<Model, Group>, _ values: repeat GroupValue<Model, each Value>,
        where filter: Filter<Model> = .all, having condition: GroupCondition<Model>? = nil
    ) async throws -> [(Group, repeat each Value)] {
        try await self.values(type, by: .property(group), repeat each values, where: filter, having: condition)
    }

    /// Several values of each group of models that a part of a date makes, or several properties.
    ///
    /// ```swift
    /// let months = try await manager.values(Order.self, by: .start(of: .month, of: \.placed), .count, .sum(\.total))
    /// ```
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - key: what makes the groups.
    ///   - values: what is computed of each group: `.count`, `.sum(…)`, `.average(…)`, `.min(…)`, `.max(…)`.
    ///   - filter: what must hold for the models.
    ///   - condition: what must hold for the groups; nil for all groups.
    /// - Returns: the groups in the order of their keys, each with its values.
    /// - Throws: what ``values(_:by:_:where:having:)-(_,KeyPath<Model,Group>,_,_,_)`` throws.
    /// - SQL: `SELECT <group>, …, <function>(<property>), … FROM Z<ENTITY> WHERE <filter> GROUP BY <group>, … ORDER BY
    ///   <group>, …`
    public func values<Model: CoreModel, Key: Sendable, each Value>(
        _ type: Model.Type, by key: GroupKey<Model, Key>, _ values: repeat GroupValue<Model, each Value>,
        where filter: Filter<Model> = .all, having condition: GroupCondition<Model>? = nil
    ) async throws -> [(Key, repeat each Value)] {
        try await asking { try $0.values(type, by: key, repeat each values, where: filter, having: condition) }
    }
}
