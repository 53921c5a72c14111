import CoreDataModel

// Whether a database finds the rows that meet a condition without reading all of them.
extension PredicateSQL {
    /// Whether destinations that meet a comparison are found before the objects that lead to them: by their keys or an
    /// index; behind a join table also by looking at each destination once, rather than at each pair.
    func findsRows(_ tree: ComparisonTree, _ target: ExistenceTarget, in scope: SQLScope) -> Bool {
        guard hasGivenValue(tree) else { return false }
        let isKey = target.keys.isEmpty
        // Of rows that are found anyway, few have to be asked; but each of them for every value of a list.
        if scope.names.areRowsFound { return isKey && tree.comparison == .in }
        switch tree.comparison {
        case .equalTo, .in:
            return target.isPaired || isKey || tree.options.isEmpty && hasIndex(target.keys, in: target.scope)
        case .contains, .beginsWith, .endsWith, .like, .matches: return target.isPaired
        default: return false
        }
    }

    /// Whether the rows of a scope that meet a condition are found by their keys or by an index.
    func findsRows(_ tree: PredicateTree, in scope: SQLScope) -> Bool {
        guard case .comparison(let comparison) = tree, comparison.modifier == .direct, comparison.options.isEmpty,
            comparison.comparison == .equalTo || comparison.comparison == .in, hasGivenValue(comparison)
        else { return false }
        switch comparison.left {
        case .evaluatedObject: return true
        case .keyPath(let keys), .path(from: .evaluatedObject, let keys): return hasIndex(keys, in: scope)
        default: return false
        }
    }

    private func hasGivenValue(_ tree: ComparisonTree) -> Bool {
        if isNull(tree.right) { return false }
        if case .aggregate(let elements) = tree.right { return elements.allSatisfy(\.isGiven) }
        return tree.right.isGiven
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
