import StoreSession

/// What an observation reported last, and which saves can change that.
final class Interest: @unchecked Sendable {
    // @unchecked Sendable: the variables are only accessed with the lock held. They are not in a `Locked` value, since
    // each save asks a hundred interests, and copying the parts out would take most of the time. For the same reason,
    // accesses are not checked for overlaps.
    private let lock = NSLock()
    private let selection: Selection?
    private let isSelection: Bool
    private let leadsToOthers: Bool
    /// The entities that were asked for; nil until that is known.
    @exclusivity(unchecked) private var entities: Set<String>?
    /// The only entity, which is compared faster; nil for several.
    @exclusivity(unchecked) private var entity: String?
    /// Whether a reading is under way. Every save counts from the signal of a change until the result of the reading is
    /// known.
    @exclusivity(unchecked) private var isReading = true
    /// The identifiers of the models that were reported last.
    @exclusivity(unchecked) private var listed: () -> Set<RecordKey> = { [] }
    /// The primary keys of their rows, where these are known.
    @exclusivity(unchecked) private var listedKeys: ContiguousArray<Int64>?
    /// The filter, for the rows of one layout.
    @exclusivity(unchecked) private var condition = RowCondition.unknown
    @exclusivity(unchecked) private var layout: ObjectIdentifier?
    /// The filter; nil for none, and as long as `isPlain` is unknown.
    @exclusivity(unchecked) private var predicate: NSPredicate?
    /// Whether the filter uses only attributes of the models; nil until a save asks.
    @exclusivity(unchecked) private var isPlain: Bool?

    init(_ selection: Selection? = nil) {
        self.selection = selection
        isSelection = selection != nil
        leadsToOthers = (selection?.lists.count ?? 0) > 1
    }

    private func withLock<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }

    /// Whether nothing has been read yet.
    var isNew: Bool { withLock { entities == nil } }

    /// Notes that another state is about to be read.
    func willRead() { withLock { isReading = true } }

    /// Notes the entities that were asked for.
    func ask(for asked: Set<String>) {
        withLock {
            let all = (entities ?? []).union(asked)
            (entities, entity) = (all, all.count == 1 ? all.first : nil)
        }
    }

    /// Notes the state that was read and will be reported.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - keys: the primary keys of the rows of a list; nil where these are not known.
    func didRead<State>(_ state: State, keys: ContiguousArray<Int64>? = nil) {
        if let keys {
            return withLock {
                isReading = false
                listedKeys = keys
                listed = { [] }
            }
        }
        guard let listed = (state as? any Collection).map({ models in { Self.keys(of: models) } }) else {
            return withLock { isReading = selection != nil }
        }
        // Computed once, when a save first asks for it.
        var made: Set<RecordKey>?
        withLock {
            isReading = false
            listedKeys = nil
            self.listed = {
                let keys = made ?? listed()
                made = keys
                return keys
            }
        }
    }

    private static func keys(of models: any Collection) -> Set<RecordKey> {
        func key<Model: CoreModel>(_ model: Model) -> RecordKey? { try? Model.recordKey(of: model.id) }
        var keys: Set<RecordKey> = []
        for case let model as any CoreModel in models { if let key = key(model) { keys.insert(key) } }
        return keys
    }
}

extension Interest {
    /// Prepares what every save is compared with, so that the first save need not.
    ///
    /// - Parameter model: knows the entities of the rows that are saved.
    func prepare(for model: ModelLayout) {
        guard let selection, let entity = model.entityByName[selection.plan.name] else { return }
        withLock {
            guard layout != ObjectIdentifier(entity), !asksBeyondModels() else { return }
            prepareCondition(for: entity)
        }
    }

    private func prepareCondition(for entity: EntityLayout) {
        (condition, layout) = (RowCondition(predicate, entity), ObjectIdentifier(entity))
    }

    /// Whether a save may change what was reported: false only if it certainly does not.
    func isTouched(by written: WrittenRows) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard asks(for: written) else { return false }
        guard !isReading, isSelection, let rows = written.rows, !asksBeyondModels() else { return true }
        for place in rows.indices {
            // By index: the row is read in place, without retaining it.
            let isOutside = layout == rows[place].identity && !condition.mayHold(rows[place].values)
            if isOutside && rows[place].isNew { continue }
            if isTouched(by: rows[place]) { return true }
        }
        return !written.deleted.isEmpty && deletes(written)
    }

    private func asks(for written: WrittenRows) -> Bool {
        if let entity, let other = written.entity { return entity == other }
        guard let entities else { return true }
        return !entities.isDisjoint(with: written.entities)
    }

    /// Whether the filter may use values of models that the models lead to, or cannot be made.
    private func asksBeyondModels() -> Bool {
        if let isPlain { return !isPlain && leadsToOthers }
        guard let selection else { return true }
        do { predicate = try selection.predicate() } catch { return true }
        let isPlain = selection.isPlain(predicate)
        self.isPlain = isPlain
        return !isPlain && leadsToOthers
    }

    private func isTouched(by row: WrittenRows.Row) -> Bool {
        guard let selection else { return true }
        guard let lists = selection.lists[row.layout.name] else { return false }
        let isSelected = row.layout.name == selection.plan.name
        if row.isNew {
            // The models that lead to a new row have changed as well.
            guard isSelected else { return false }
        } else if isPlain == true, row.changedSlots.isEmpty,
            !row.changedLists.contains(where: { lists.contains($0.relationship.name) })
        {
            // Only the other side of a relationship changed. No model shows it, and the filter does not use it.
            return false
        }
        guard isSelected, row.isNew || !selection.isWithinItself else { return true }
        if layout != row.identity { prepareCondition(for: row.layout) }
        if condition.mayHold(row.values) { return true }
        return row.isNew ? false : wasListed(row, selection)
    }

    private func deletes(_ written: WrittenRows) -> Bool {
        guard let selection else { return true }
        return written.deleted.contains { selection.lists[$0] != nil }
    }

    /// Whether a changed row was among the models that were reported, and may not be any more.
    private func wasListed(_ row: WrittenRows.Row, _ selection: Selection) -> Bool {
        if let listedKeys { return listedKeys.contains(row.key) }
        guard let slot = row.layout.slotIndex(forName: selection.plan.uidKey), !row.changedSlots.contains(slot),
            let key = RecordKey(row.values[slot])
        else { return true }
        return listed().contains(key)
    }
}

extension Interest {
    /// A fetch of models from the first one on.
    struct Selection: Sendable {
        let plan: EntityPlan
        /// The entities of the models and of the models in them, with the names of the lists that they show.
        let lists: [String: Set<String>]
        /// Whether models of the type lead to others of the same type.
        let isWithinItself: Bool
        let predicate: @Sendable () throws -> NSPredicate?

        /// - Parameters:
        ///   - plan: the models.
        ///   - registry: knows the models in them.
        ///   - predicate: the filter.
        /// - Throws: ``PersistenceError`` for a model that the registry does not know.
        init(
            _ plan: EntityPlan, _ registry: ModelRegistry, predicate: @escaping @Sendable () throws -> NSPredicate?
        ) throws {
            self.plan = plan
            self.predicate = predicate
            var lists: [String: Set<String>] = [:]
            var isWithinItself = false
            var queue = [plan]
            while let next = queue.popLast() {
                lists[next.name] = Set(next.fields.lazy.filter(\.isToMany).map(\.name))
                for field in next.fields {
                    guard let related = field.related else { continue }
                    let destination = try registry.plan(related)
                    if destination === plan { isWithinItself = true }
                    if lists[destination.name] == nil { queue.append(destination) }
                }
            }
            self.lists = lists
            self.isWithinItself = isWithinItself
        }

        /// Whether the filter uses only attributes of the models; false if it cannot be made.
        var isPlainFilter: Bool {
            do { return isPlain(try predicate()) } catch { return false }
        }

        /// Whether a filter uses only attributes of the models.
        func isPlain(_ predicate: NSPredicate?) -> Bool {
            let attributes = Set(plan.fields.lazy.filter { $0.related == nil }.map(\.name))
            func isPlain(_ predicate: NSPredicate) -> Bool {
                switch predicate {
                case let compound as NSCompoundPredicate: compound.subpredicates.allSatisfy(isPlain)
                case let comparison as NSComparisonPredicate:
                    comparison.leftExpression.expressionType == .keyPath
                        && comparison.rightExpression.expressionType == .constantValue
                        && attributes.contains(comparison.leftExpression.keyPath)
                default: false
                }
            }
            return predicate.map(isPlain) ?? true
        }
    }
}

/// The part of a filter that can be decided from one row. It may say that the filter can hold although it does not,
/// but never the reverse. Pure.
enum RowCondition: Sendable {
    /// Anything that is not analysed.
    case unknown
    case all([RowCondition])
    case any([RowCondition])
    /// A number, or a date in seconds since 2001.
    case number(slot: Int, Comparison, Double)
    case text(slot: Int, String)
    case uuid(slot: Int, UUID)

    enum Comparison: Sendable { case equal, atMost, atLeast }

    /// - Parameters:
    ///   - predicate: the filter; nil for none, which selects every row.
    ///   - layout: the entity whose rows are checked.
    init(_ predicate: NSPredicate?, _ layout: EntityLayout) {
        switch predicate {
        case let compound as NSCompoundPredicate:
            let parts = compound.subpredicates.map { RowCondition($0, layout) }
            switch compound.compoundPredicateType {
            case .and: self = .all(parts)
            case .or: self = .any(parts)
            default: self = .unknown
            }
        case let comparison as NSComparisonPredicate: self = RowCondition(comparison, layout) ?? .unknown
        default: self = .unknown
        }
    }

    /// A comparison of an attribute with a constant; nil for any other comparison.
    private init?(_ comparison: NSComparisonPredicate, _ layout: EntityLayout) {
        guard comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
            comparison.leftExpression.expressionType == .keyPath,
            comparison.rightExpression.expressionType == .constantValue,
            let slot = layout.slotIndex(forName: comparison.leftExpression.keyPath)
        else { return nil }
        let constant = comparison.rightExpression.constantValue
        let isEquality = comparison.predicateOperatorType == .equalTo
        switch constant {
        case let text as String where isEquality: self = .text(slot: slot, text)
        case let uuid as UUID where isEquality: self = .uuid(slot: slot, uuid)
        case let date as Date:
            guard let comparison = Comparison(comparison.predicateOperatorType) else { return nil }
            self = .number(slot: slot, comparison, date.timeIntervalSinceReferenceDate)
        case let number as NSNumber:
            guard let comparison = Comparison(comparison.predicateOperatorType) else { return nil }
            self = .number(slot: slot, comparison, number.nearestDouble)
        default: return nil
        }
    }

    /// Whether the filter may select a row.
    ///
    /// - Parameter values: the row's values, by slot.
    /// - Returns: false only if it certainly does not.
    func mayHold(_ values: ContiguousArray<StoredValue>) -> Bool {
        switch self {
        case .unknown: return true
        case .all(let parts): return parts.allSatisfy { $0.mayHold(values) }
        case .any(let parts): return parts.contains { $0.mayHold(values) }
        case .number(let slot, let comparison, let constant):
            switch values[slot] {
            case .integer(let number): return comparison.mayHold(Double(number), constant)
            case .double(let number), .date(let number): return comparison.mayHold(number, constant)
            default: return true
            }
        case .text(let slot, let constant):
            guard case .string(let text) = values[slot] else { return true }
            return text == constant
        case .uuid(let slot, let constant):
            guard case .uuid(let uuid) = values[slot] else { return true }
            return uuid == constant
        }
    }
}

extension RowCondition.Comparison {
    // Whole numbers are rounded to `Double` here, so that different ones may be equal.
    fileprivate init?(_ type: NSComparisonPredicate.Operator) {
        switch type {
        case .equalTo: self = .equal
        case .lessThan, .lessThanOrEqualTo: self = .atMost
        case .greaterThan, .greaterThanOrEqualTo: self = .atLeast
        default: return nil
        }
    }

    fileprivate func mayHold(_ value: Double, _ constant: Double) -> Bool {
        switch self {
        case .equal: value == constant
        case .atMost: value <= constant
        case .atLeast: value >= constant
        }
    }
}
