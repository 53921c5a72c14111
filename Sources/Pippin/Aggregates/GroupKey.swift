public import Foundation
import StoreSession

/// What makes the groups of `values(_:by:_:where:having:)`: a property, a
/// part of a date, or two or three of them.
///
/// ```swift
/// by: .start(of: .month, of: \.placed)
/// by: .keys(.property(\.customer?.name), .component(.year, of: \.placed))
/// ```
public struct GroupKey<Model: CoreModel, Key>: Sendable {
    let parts: [GroupKeyPart]
    /// Makes the key of the values of its parts.
    let key: @Sendable ([any Sendable]) -> Key?

    private init(_ parts: [GroupKeyPart], _ key: @escaping @Sendable ([any Sendable]) -> Key?) {
        (self.parts, self.key) = (parts, key)
    }
}

/// One property that groups are made by, and what of its values makes them.
struct GroupKeyPart: Sendable {
    let property: PropertyName
    /// The part of a stored value that models of a group have in common.
    let value: @Sendable (AggregatedProperty, Any?) throws -> any (Hashable & Sendable)
    /// Compares two of them; nil for the order of the property's values.
    var precedes: (@Sendable (any Sendable, any Sendable) -> Bool)?
}

extension GroupKey where Key: Hashable & Codable & Sendable {
    /// The values of a property; `nil` is one of them where it is optional.
    ///
    /// - Parameter property: the property, of this model or of one that it leads to.
    /// - Returns: what makes the groups.
    public static func property(_ property: KeyPath<Model, Key>) -> Self {
        let part = GroupKeyPart(property: PropertyName(property)) { try $0.value($1, Key.self) }
        return Self([part]) { $0.first.flatMap { $0 as? Key } }
    }
}

extension GroupKey {
    /// A date's component, such as its year or its day of the week: a group for each.
    private static func component<Value>(
        _ component: Calendar.Component, of property: PropertyName, _ calendar: Calendar?,
        _ key: @escaping @Sendable (Int?) -> Value?
    ) -> GroupKey<Model, Value> {
        let calendar = calendar ?? gregorian
        let part = GroupKeyPart(property: property) { property, value in
            try property.value(value, Date?.self).map { calendar.component(component, from: $0) }
        } precedes: {
            isLess($0, $1, Int.self)
        }
        return GroupKey<Model, Value>([part]) { $0.first.flatMap { key($0 as? Int) } }
    }

    /// The beginning of the year, the month or the day of a date: a group for each.
    private static func start<Value>(
        of component: Calendar.Component, of property: PropertyName, _ calendar: Calendar?,
        _ key: @escaping @Sendable (Date?) -> Value?
    ) -> GroupKey<Model, Value> {
        let calendar = calendar ?? gregorian
        let part = GroupKeyPart(property: property) { property, value in
            try property.value(value, Date?.self).map { calendar.dateInterval(of: component, for: $0)?.start ?? $0 }
        } precedes: {
            isLess($0, $1, Date.self)
        }
        return GroupKey<Model, Value>([part]) { $0.first.flatMap { key($0 as? Date) } }
    }

    /// The same on each machine.
    private static var gregorian: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// No value comes first.
    private static func isLess<Value: Comparable>(
        _ first: any Sendable, _ second: any Sendable, _ type: Value.Type
    ) -> Bool {
        guard let second = second as? Value else { return false }
        return (first as? Value).map { $0 < second } ?? true
    }
}

extension GroupKey where Key == Int {
    /// A component of dates, such as their year, month or day of the week.
    ///
    /// The store groups by whole dates, and the library by their components: many different dates are many rows.
    ///
    /// - Parameters:
    ///   - component: the component.
    ///   - property: the date.
    ///   - calendar: the calendar, with its time zone; the Gregorian one in GMT if none is given.
    /// - Returns: what makes the groups, which are in the order of the components.
    public static func component(
        _ component: Calendar.Component, of property: KeyPath<Model, Date>, in calendar: Calendar? = nil
    ) -> Self { Self.component(component, of: PropertyName(property), calendar) { $0 } }
}

extension GroupKey where Key == Int? {
    /// A component of dates that may be missing; models without one are a group.
    ///
    /// - Parameters:
    ///   - component: the component.
    ///   - property: the date.
    ///   - calendar: the calendar, with its time zone; the Gregorian one in GMT if none is given.
    /// - Returns: what makes the groups, which are in the order of the components.
    public static func component(
        _ component: Calendar.Component, of property: KeyPath<Model, Date?>, in calendar: Calendar? = nil
    ) -> Self { Self.component(component, of: PropertyName(property), calendar) { .some($0) } }
}

extension GroupKey where Key == Date {
    /// The years, months or days in which dates are, each as its beginning.
    ///
    /// - Parameters:
    ///   - component: the length, such as `.month`.
    ///   - property: the date.
    ///   - calendar: the calendar, with its time zone; the Gregorian one in GMT if none is given.
    /// - Returns: what makes the groups, which are in their order.
    public static func start(
        of component: Calendar.Component, of property: KeyPath<Model, Date>, in calendar: Calendar? = nil
    ) -> Self { Self.start(of: component, of: PropertyName(property), calendar) { $0 } }
}

extension GroupKey where Key == Date? {
    /// The same for dates that may be missing; models without one are a group.
    ///
    /// - Parameters:
    ///   - component: the length, such as `.month`.
    ///   - property: the date.
    ///   - calendar: the calendar, with its time zone; the Gregorian one in GMT if none is given.
    /// - Returns: what makes the groups, which are in their order.
    public static func start(
        of component: Calendar.Component, of property: KeyPath<Model, Date?>, in calendar: Calendar? = nil
    ) -> Self { Self.start(of: component, of: PropertyName(property), calendar) { .some($0) } }
}

extension GroupKey {
    /// A group for each pair of values.
    ///
    /// - Parameters:
    ///   - first: what makes the groups.
    ///   - second: what divides them.
    /// - Returns: what makes the pairs.
    public static func keys<First, Second>(
        _ first: GroupKey<Model, First>, _ second: GroupKey<Model, Second>
    ) -> Self where Key == (First, Second) {
        let count = first.parts.count
        return Self(first.parts + second.parts) { values in
            guard let one = first.key(Array(values.prefix(count))), let two = second.key(Array(values.dropFirst(count)))
            else { return nil }
            return (one, two)
        }
    }

    /// A group for each three values.
    ///
    /// - Parameters:
    ///   - first: what makes the groups.
    ///   - second: what divides them.
    ///   - third: what divides these.
    /// - Returns: what makes the triples.
    public static func keys<First, Second, Third>(
        _ first: GroupKey<Model, First>, _ second: GroupKey<Model, Second>, _ third: GroupKey<Model, Third>
    ) -> Self where Key == (First, Second, Third) {
        let pair = GroupKey<Model, (First, Second)>.keys(first, second)
        let count = pair.parts.count
        return Self(pair.parts + third.parts) { values in
            guard let (one, two) = pair.key(Array(values.prefix(count))),
                let three = third.key(Array(values.dropFirst(count)))
            else { return nil }
            return (one, two, three)
        }
    }
}

/// Groups as a store computes them. Those that the store distinguishes and Swift does not are put together: dates of
/// one month, an “é” of one scalar and one of two.
struct GroupedRows {
    private let access: ModelAccess
    private let parts: [(part: GroupKeyPart, property: AggregatedProperty)]
    private let terms: [(term: GroupTerm, property: AggregatedProperty)]
    private let plan: EntityPlan

    var entity: String { plan.name }
    var path: String { parts.map(\.property.path).joined(separator: ", ") }

    /// A group: the stored values that it is made by, and what is known of its rows.
    private struct Group {
        let stored: [Any?]
        let parts: [any Sendable]
        var rows: [[String: Any]]
    }

    init<Model: CoreModel>(
        _ parts: [GroupKeyPart], _ terms: [GroupTerm], _ access: ModelAccess, _ type: Model.Type
    ) throws {
        self.access = access
        let plan = try access.plan(of: type)
        let registry = access.manager.registry
        self.plan = plan
        self.parts = try parts.map { ($0, try AggregatedProperty($0.property, plan, registry)) }
        self.terms = try terms.map { ($0, try AggregatedProperty($0.property, plan, registry)) }
    }

    /// The groups in order, each with its values.
    func read(_ selection: RecordSelection) throws -> [([any Sendable], [any Sendable])] {
        guard let source = try access.source() as? StoreRows else {
            throw PersistenceError(
                .readFailed, entity: entity,
                "Groups are computed of what is stored, and this block has changes that are not stored yet. Ask before "
                    + "changing anything, or in a block of its own.")
        }
        var paths: [String] = []
        for (_, property) in parts where !paths.contains(property.path) { paths.append(property.path) }
        let rows = try source.computed(of: plan, selection.predicate) { fetch in
            fetch.columns = paths.map { .keyPath($0) }
            for (index, (term, property)) in terms.enumerated() {
                let type = term.function == .count ? .integer64AttributeType : property.kind(of: term.function).type
                fetch.columns.append(property.column(name(index), term.function, type))
                if term.function == .average {
                    fetch.columns.append(property.column(countName(index), .count, .integer64AttributeType))
                }
            }
            fetch.groupBy = paths
            fetch.sortDescriptors = paths.map { NSSortDescriptor(key: $0, ascending: true) }
        }
        var places: [[AnyHashable]: Int] = [:]
        var groups: [Group] = []
        for row in rows {
            let stored = parts.map { _, property in Self.value(row[property.path]) }
            let values = try zip(parts, stored).map { try $0.part.value($0.property, $1) }
            let key = values.map { AnyHashable($0) }
            if let place = places[key] {
                groups[place].rows.append(row)
            } else {
                places[key] = groups.count
                groups.append(Group(stored: stored, parts: values, rows: [row]))
            }
        }
        if groups.count < rows.count || parts.contains(where: { $0.part.precedes != nil }) {
            groups = groups.enumerated().sorted { precedes($0.element, $1.element) ?? ($0.offset < $1.offset) }
                .map(\.element)
        }
        return try groups.map { group in
            (group.parts, try terms.indices.map { try terms[$0].term.value(terms[$0].property, total($0, group.rows)) })
        }
    }

    /// Whether a group comes before another one; nil if they are of the same place.
    private func precedes(_ first: Group, _ second: Group) -> Bool? {
        for (index, (part, property)) in parts.enumerated() {
            if let precedes = part.precedes {
                if precedes(first.parts[index], second.parts[index]) { return true }
                if precedes(second.parts[index], first.parts[index]) { return false }
            } else {
                if property.order(first.stored[index], second.stored[index]) { return true }
                if property.order(second.stored[index], first.stored[index]) { return false }
            }
        }
        return nil
    }

    /// A value of a group, of what the store has computed for its rows.
    private func total(_ index: Int, _ rows: [[String: Any]]) throws -> Any? {
        let values = rows.compactMap { Self.value($0[name(index)]) }
        guard rows.count > 1 else { return values.first }
        let (term, property) = terms[index]
        switch term.function {
        case .sum, .minimum, .maximum: return try property.result(term.function, values)
        case .count: return NSNumber(value: values.reduce(0) { $0 + (($1 as? NSNumber)?.int64Value ?? 0) })
        case .average:
            let counts = rows.compactMap { row in
                Self.value(row[name(index)]).map { _ in (row[countName(index)] as? NSNumber)?.doubleValue ?? 0 }
            }
            let sum = zip(values, counts).reduce(0) { $0 + (($1.0 as? NSNumber)?.nearestDouble ?? 0) * $1.1 }
            let count = counts.reduce(0, +)
            return count == 0 ? nil : NSNumber(value: sum / count)
        }
    }

    private static func value(_ value: Any?) -> Any? { value is NSNull ? nil : value }

    /// The names of computed columns, which no property has.
    private func name(_ index: Int) -> String {
        "\(parts[0].property.valueName)_\(parts[0].property.countName)_\(index)"
    }
    private func countName(_ index: Int) -> String {
        "\(parts[0].property.countName)_\(parts[0].property.valueName)_\(index)"
    }
}
