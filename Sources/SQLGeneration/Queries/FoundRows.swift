import CoreDataModel
import StoreEngine

/// How many objects a database evaluates a condition for.
enum AskedObjects: Comparable {
    /// For all objects, unless the condition itself finds them.
    case all
    /// For those in a range of an index, or until a limit is reached, which may be few.
    case some
    /// For those with a value that an index finds.
    case few
}

// Whether a database finds the rows that meet a condition without reading all of them.
extension PredicateSQL {
    /// Whether destinations that meet a comparison are found before the objects that lead to them: by their keys or an
    /// index; behind a join table also by looking at each destination once, rather than at each pair.
    func findsRows(_ tree: ComparisonTree, _ target: ExistenceTarget, in scope: SQLScope) -> Bool {
        guard hasGivenValue(tree.right) else { return false }
        let isKey = target.keys.isEmpty
        // Another condition finds few rows, so this one is cheap for each; only a list is compared value by value.
        if scope.names.asked == .few { return isKey && tree.comparison == .in }
        // Searches, and comparisons with options, call a function for each destination, and often find many.
        let searches = scope.names.asked == .all && target.isPaired
        switch tree.comparison {
        case .equalTo, .in:
            if isKey || searches { return true }
            return tree.options.isEmpty && (target.isPaired || hasIndex(target.keys, in: target.scope))
        case .contains, .beginsWith, .endsWith, .like, .matches: return searches
        default: return false
        }
    }

    /// How many objects the other conditions are evaluated for beside one that finds its objects by keys or an index.
    func asked(beside tree: PredicateTree, in scope: SQLScope) -> AskedObjects {
        guard case .comparison(let comparison) = tree, comparison.modifier == .direct, comparison.options.isEmpty
        else { return .all }
        var (key, value) = (comparison.left, comparison.right)
        let found: AskedObjects
        switch comparison.comparison {
        case .in: found = .few
        case .between, .beginsWith: found = .some
        case .equalTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            found = comparison.comparison == .equalTo ? .few : .some
            if key.isGiven { swap(&key, &value) }
        default: return .all
        }
        guard hasGivenValue(value) else { return .all }
        switch key {
        case .evaluatedObject: return found
        case .keyPath(let keys), .path(from: .evaluatedObject, let keys):
            guard hasIndex(keys, in: scope) else { return .all }
            // Only a text's beginning is a range of the index.
            let isText = scope.mapping.column(named: keys[0])?.storage == .string
            return comparison.comparison != .beginsWith || isText ? found : .all
        default: return .all
        }
    }

    /// Whether a fetch reads only as many objects as its limit needs: in any order, or in an index's.
    func stopsAtLimit(_ plan: FetchPlan, sortedBy terms: [SortTerm], in scope: SQLScope) -> Bool {
        guard plan.limit > 0, plan.groupBy.isEmpty else { return false }
        guard let first = terms.first else { return true }
        return first.keyPath.isEmpty || first.comparison == .plain && hasIndex(first.keyPath, in: scope)
    }

    private func hasGivenValue(_ value: ExpressionTree) -> Bool {
        if isNull(value) { return false }
        if case .aggregate(let elements) = value { return elements.allSatisfy(\.isGiven) }
        return value.isGiven
    }

    /// Whether an index finds objects by a value: a destination, or an attribute that leads an index. That of a Boolean
    /// value finds half of all.
    private func hasIndex(_ keys: [String], in scope: SQLScope) -> Bool {
        let layout = scope.mapping.layout
        guard keys.count == 1, case .slot(let slot)? = layout.propertyByName[keys[0]],
            let column = scope.mapping.columns[slot], !column.isComposite,
            layout.slots[slot].attribute?.description.attributeType != .booleanAttributeType
        else { return keys == ["objectID"] || keys == ["self"] || keys == ["SELF"] }
        return column.destination != nil || layout.uniquenessConstraints.contains { $0.first == keys[0] }
            || sequence(first: layout, next: \.superentity).contains { $0.description.leadsIndex(keys[0]) }
    }
}

extension NSEntityDescription {
    fileprivate func leadsIndex(_ key: String) -> Bool {
        if ownProperties.contains(where: { $0.isIndexed && $0.name == key }) { return true }
        return indexes.contains { index in
            guard index.partialIndexPredicate == nil, let first = index.elements.first else { return false }
            return first.propertyName == key && first.collationType == .binary
        }
    }
}
