import CoreData
import PredicateFormat
import StoreEngine

private typealias NSExpression = PredicateFormat.NSExpression

/// What stands after “group by”: the properties that the objects of a group share, and what is computed of each group:
/// `author.name, year: count, sum(price), average(price), min(year), max(year)`. Without a colon, groups are counted.
/// Pure.
struct GroupText {
    /// A number of a group, or its least or greatest value.
    struct Measure: Equatable {
        let function: Function
        /// The property; nil for the count.
        let key: QueryText.Part?

        /// As it is typed, and shown at the head of its column.
        var text: String { key.map { "\(function.rawValue)(\($0.text))" } ?? function.rawValue }
    }

    enum Function: String, CaseIterable {
        case count, sum, average, min, max

        /// The name of Core Data's function.
        var name: String { self == .count ? "count:" : "\(rawValue):" }
        var isOfNumbers: Bool { self == .sum || self == .average }

        init?(typed text: String) {
            let name = text.lowercased()
            self.init(rawValue: ["avg": "average", "least": "min", "greatest": "max"][name] ?? name)
        }
    }

    private(set) var keys: [QueryText.Part] = []
    private(set) var measures: [Measure] = []

    /// - Parameters:
    ///   - part: the text.
    ///   - whole: the query that it is part of, for problems.
    /// - Throws: `TextProblem` that names the wrong part.
    init(_ part: QueryText.Part, in whole: String) throws(TextProblem) {
        let words = Words(part.text).words
        let colon = words.firstIndex { $0.text == ":" }
        func problem(_ range: Range<Int>, _ reason: String, _ near: [String] = []) -> TextProblem {
            TextProblem(part.text, range, reason, suggestions: near).within(whole, at: part.offset)
        }
        for term in Self.terms(Array(words[..<(colon ?? words.count)])) {
            guard let key = term.first else {
                throw problem(0..<part.text.count, "a property is missing in “group by”")
            }
            if let extra = term.dropFirst().first {
                throw problem(extra.range, "a comma, or a colon before what is computed, was expected")
            }
            keys.append(.init(text: Self.path(key.text), offset: part.offset + key.range.lowerBound))
        }
        guard let colon else {
            measures = [Measure(function: .count, key: nil)]
            return
        }
        for term in Self.terms(Array(words[(colon + 1)...])) {
            guard let (measure, rest) = Self.measure(term[...], at: part.offset) else {
                let range = term.first.map { $0.range.lowerBound..<(term.last ?? $0).range.upperBound }
                throw problem(
                    range ?? words[colon].range,
                    "“count”, or “sum”, “average”, “min” or “max” of a property, as in sum(price), was expected",
                    term.first.map { TextProblem.near($0.text, among: Function.allCases.map(\.rawValue)) } ?? [])
            }
            if let extra = rest.first { throw problem(extra.range, "a comma was expected") }
            measures.append(measure)
        }
    }

    /// Words between commas.
    static func terms(_ words: [Words.Word]) -> [[Words.Word]] {
        words.split(omittingEmptySubsequences: false) { !$0.isQuoted && $0.text == "," }.map(Array.init)
    }

    /// Nil for a word that is not a direction.
    static func isAscending(_ word: String) -> Bool? {
        switch word.lowercased() {
        case "asc", "ascending": true
        case "desc", "descending": false
        default: nil
        }
    }

    /// A key that is a keyword may be marked with `#`.
    private static func path(_ text: String) -> String {
        text.split(separator: ".", omittingEmptySubsequences: false).map { $0.hasPrefix("#") ? $0.dropFirst() : $0 }
            .joined(separator: ".")
    }

    /// The measure that words begin with, and the words after it.
    static func measure(
        _ words: ArraySlice<Words.Word>, at offset: Int
    ) -> (measure: Measure, rest: ArraySlice<Words.Word>)? {
        guard let first = words.first, !first.isQuoted, let function = Function(typed: first.text) else { return nil }
        let rest = words.dropFirst()
        let inside = rest.prefix(3).map(\.text)
        if inside.count == 3, inside[0] == "(", inside[2] == ")",
            inside[1].first.map({ $0.isLetter || "_#".contains($0) }) == true
        {
            let word = rest[rest.startIndex + 1]
            let key = QueryText.Part(text: path(word.text), offset: offset + word.range.lowerBound)
            // The count of values is that of objects that have one.
            guard function != .count else { return nil }
            return (Measure(function: function, key: key), rest.dropFirst(3))
        }
        return function == .count ? (Measure(function: .count, key: nil), rest) : nil
    }
}

/// The groups of a query, or the number of its objects, as rows.
package struct GroupedQuery {
    /// The most groups, which are in memory together.
    private static let most = 100_000

    /// The heads of the columns.
    package private(set) var columns: [String] = []
    package private(set) var rows: [[FieldValue]] = []

    /// Computes the groups; nil for a query of objects.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - store: the store.
    /// - Throws: `TextProblem` that names the wrong part; `CommandError` for more groups than fit into memory; errors
    ///   of the store.
    package init?(_ query: QueryText, in store: DirectStore) throws {
        guard query.isCount || query.groups != nil else { return nil }
        var plan = try query.plan(in: store)
        let searched = try StoreSearch.objects(query, plan, in: store)
        if let searched { plan.predicate = NSPredicate(format: "self IN %@", searched as NSArray) }
        guard let part = query.groups else {
            columns = ["count"]
            // What was found is within the limit already.
            let all = try searched?.count ?? store.asking { try $0.fetchCount(plan) }
            rows = [[.integer(Int64(all))]]
            return
        }
        let groups = try GroupText(part, in: query.text)
        let planned = try PlannedGroups(groups, query, &plan)
        columns = groups.keys.map(\.text) + groups.measures.map(\.text)
        let orders = try query.orders.map { order throws(TextProblem) in
            let name = order.key.text.filter { !$0.isWhitespace }
            guard let column = columns.firstIndex(where: { $0.lowercased() == name.lowercased() }) else {
                throw TextProblem(
                    query.text, order.key.range, "the groups have no column “\(order.key.text)”",
                    suggestions: TextProblem.near(name, among: columns))
            }
            return (column: column, isAscending: order.isAscending)
        }
        let (limit, offset) = (query.limit ?? .max, query.offset)
        (plan.limit, plan.offset) = (Self.most + 1, 0)
        if query.limit == 0 { return }
        let found = try store.asking { try $0.fetchDictionaries(plan) }
        guard found.count <= Self.most else {
            throw CommandError(
                "there are more than \(Self.most) groups; choose fewer objects by “where”, or use pippin sql, which writes "
                    + "groups as they are read")
        }
        let all = found.map(planned.row).sorted { first, second in
            for order in orders + columns.indices.map({ (column: $0, isAscending: true) }) {
                let comparison = first[order.column].comparedInOrder(to: second[order.column])
                if comparison != 0 { return (comparison < 0) == order.isAscending }
            }
            return false
        }
        rows = Array(all.dropFirst(offset).prefix(limit))
    }

    /// Writes the rows.
    package func write(
        _ format: RowFormat, isVerbatim: Bool, bold: (String) -> String = { $0 }, quiet: (String) -> String = { $0 },
        _ output: (String) throws -> Void
    ) throws {
        var writer = SQLRows(format, isVerbatim: isVerbatim)
        try writer.begin(columns, output)
        for row in rows { try writer.write(row, output) }
        try writer.end(bold: bold, quiet: quiet, output)
    }
}

/// The columns of groups, by the names that the store's answer has.
private struct PlannedGroups {
    private enum Column {
        case attribute(String, AttributeLayout)
        case object(String)
        case number(String)
    }

    private var columns: [Column] = []

    /// Adds the groups to a plan.
    init(_ groups: GroupText, _ query: QueryText, _ plan: inout FetchPlan) throws(TextProblem) {
        let entity = plan.entity
        for key in groups.keys {
            let (path, attribute) = try Self.resolved(key, of: entity, query.text)
            plan.columns.append(.keyPath(path))
            plan.groupBy.append(path)
            columns.append(attribute.map { .attribute(path, $0) } ?? .object(path))
        }
        var known: [(measure: GroupText.Measure, name: String)] = []
        func name(of measure: GroupText.Measure, isShown: Bool) throws(TextProblem) -> String {
            if let found = known.first(where: { $0.measure.text == measure.text && !isShown }) { return found.name }
            var name = "number\(known.count)"
            while entity.propertyByName[name] != nil { name = "_\(name)" }
            known.append((measure, name))
            let (expression, type) = try Self.expression(measure, of: entity, query.text)
            let column = FetchColumn.expression(name: name, expression, type)
            if isShown { plan.columns.append(column) } else { plan.groupColumns.append(column) }
            return name
        }
        for measure in groups.measures {
            let name = try name(of: measure, isShown: true)
            guard let key = measure.key, !measure.function.isOfNumbers,
                let attribute = try Self.resolved(key, of: entity, query.text).attribute
            else {
                columns.append(.number(name))
                continue
            }
            columns.append(.attribute(name, attribute))
        }
        guard let having = query.having else { return }
        // What is computed becomes a variable, which the plan resolves.
        let (text, words) = (Array(having.text), Words(having.text).words)
        var (written, rest, end) = ("", words[...], 0)
        while let word = rest.first {
            if let (measure, after) = GroupText.measure(rest, at: having.offset) {
                written += String(text[end..<word.range.lowerBound]) + "$" + (try name(of: measure, isShown: false))
                end = rest[after.startIndex - 1].range.upperBound
                rest = after
            } else {
                rest = rest.dropFirst()
            }
        }
        written += String(text[end...])
        do {
            let predicate = try NSPredicate(parsing: written)
            var unknown: String?
            let shared = groups.keys.map(\.text)
            try predicateTree(of: predicate).forEachComparison { comparison in
                for side in [comparison.left, comparison.right] {
                    side.forEach { expression in
                        guard case .keyPath(let keys) = expression, !shared.contains(keys.joined(separator: ".")) else {
                            return
                        }
                        unknown = keys.joined(separator: ".")
                    }
                }
            }
            if let unknown {
                throw TextProblem(
                    query.text, having.range,
                    "“\(unknown)” is not a property that the objects of a group share, and not computed of it")
            }
            plan.having = predicate
        } catch let problem as TextProblem {
            throw problem
        } catch {
            throw TextProblem(query.text, having.range, (error as? PredicateFormatError)?.reason ?? "\(error)")
        }
    }

    /// The path of a key in the store's names, and its attribute; nil for a relationship.
    private static func resolved(
        _ key: QueryText.Part, of entity: EntityLayout, _ text: String
    ) throws(TextProblem) -> (path: String, attribute: AttributeLayout?) {
        let keys = key.text.split(separator: ".").map(String.init)
        if let problem = FilterText.problem(keys, key.text, entity) { throw problem.within(text, at: key.offset) }
        let names = StoredNames.resolved(keys, in: entity)
        var here: EntityLayout? = entity
        for name in names {
            guard let current = here, let step = KeyCompletion.step(name, from: current) else { break }
            if step.isMany {
                throw TextProblem(text, key.range, "“\(name)” leads to several objects, so that groups would overlap")
            }
            here = step.entity
        }
        let attribute = entity.attribute(at: names)
        if attribute == nil, here == nil {
            throw TextProblem(text, key.range, "“\(key.text)” is not an attribute or a to-one relationship")
        }
        if let attribute, !attribute.type.isOrdered, attribute.type != .booleanAttributeType,
            attribute.type != .UUIDAttributeType
        {
            throw TextProblem(text, key.range, "the values of “\(key.text)” are not compared with each other")
        }
        return (names.joined(separator: "."), attribute)
    }

    private static func expression(
        _ measure: GroupText.Measure, of entity: EntityLayout, _ text: String
    ) throws(TextProblem) -> (NSExpression, NSAttributeType) {
        guard let key = measure.key else {
            let expression = NSExpression(
                forFunction: measure.function.name, arguments: [NSExpression.expressionForEvaluatedObject()])
            return (expression, .integer64AttributeType)
        }
        let (path, attribute) = try resolved(key, of: entity, text)
        guard let attribute, !measure.function.isOfNumbers || attribute.type.isNumber else {
            throw TextProblem(text, key.range, "“\(key.text)” is not a number")
        }
        let type: NSAttributeType =
            switch measure.function {
            case .sum
            where attribute.type != .doubleAttributeType && attribute.type != .floatAttributeType
                && attribute.type != .decimalAttributeType:
                .integer64AttributeType
            case .sum, .average: attribute.type == .decimalAttributeType ? .decimalAttributeType : .doubleAttributeType
            case .count, .min, .max: attribute.type
            }
        let expression = NSExpression(forFunction: measure.function.name, arguments: [NSExpression(forKeyPath: path)])
        return (expression, type)
    }

    /// The values of a group, in the order of the columns.
    func row(_ found: [String: Any]) -> [FieldValue] {
        columns.map { column in
            switch column {
            case .attribute(let name, let attribute):
                guard let value = found[name], !(value is NSNull) else { return .null }
                return FieldValue(StoredValue(value, for: attribute), attribute)
            case .object(let name): return (found[name] as? NSManagedObjectID).map { .object(ObjectLink($0)) } ?? .null
            case .number(let name):
                switch found[name] {
                case let value as NSDecimalNumber: return .decimal(value.stringValue)
                case let value as NSNumber where value.isFloat: return .double(value.doubleValue)
                case let value as NSNumber: return .integer(value.int64Value)
                default: return .null
                }
            }
        }
    }
}

extension NSNumber {
    fileprivate var isFloat: Bool { ["d", "f"].contains(String(cString: objCType)) }
}

extension FieldValue {
    /// How a value stands to another of its column: less than 0 if it comes first. Without a value comes first of all;
    /// texts are compared by their code points.
    fileprivate func comparedInOrder(to other: FieldValue) -> Int {
        func compare<Value: Comparable>(_ first: Value, _ second: Value) -> Int {
            first == second ? 0 : first < second ? -1 : 1
        }
        switch (self, other) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.integer(let first), .integer(let second)): return compare(first, second)
        case (.double(let first), .double(let second)), (.date(let first), .date(let second)):
            return compare(first, second)
        case (.decimal(let first), .decimal(let second)):
            guard let first = Decimal(string: first), let second = Decimal(string: second) else { return 0 }
            return compare(first, second)
        case (.object(let first), .object(let second)):
            return compare(first.entityName, second.entityName) * 2 + compare(first.key, second.key)
        default: return compare(CSVText.cell(self), CSVText.cell(other))
        }
    }
}
