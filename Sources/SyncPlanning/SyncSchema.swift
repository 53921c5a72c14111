/// What a sync needs to know of a schema: properties, and the rules of conflicts. Pure.
///
/// Entities and properties are known by their renaming identifiers, so that a renamed property is the same property.
package struct SyncSchema: Hashable, Sendable {
    package var entities: [String: SyncEntity]

    package init(_ entities: [String: SyncEntity]) { self.entities = entities }

    /// The properties of each entity.
    package var properties: KnownProperties {
        KnownProperties(entities.mapValues { $0.properties.mapValues(\.kind) })
    }

    package func property(_ name: String, of entity: String) -> SyncProperty? { entities[entity]?.properties[name] }
}

/// An entity's part of a schema.
package struct SyncEntity: Hashable, Sendable {
    package var properties: [String: SyncProperty]
    package var uniques: [UniqueRule] = []
    package var whenDeleted: DeletedEditRule = .deletionWins
    package var scope: ScopeRule = .everybody

    package init(
        _ properties: [String: SyncProperty], uniques: [UniqueRule] = [], whenDeleted: DeletedEditRule = .deletionWins,
        scope: ScopeRule = .everybody
    ) {
        self.properties = properties
        self.uniques = uniques
        self.whenDeleted = whenDeleted
        self.scope = scope
    }
}

/// A property's part of a schema.
package struct SyncProperty: Hashable, Sendable {
    /// What the values are.
    package enum Kind: Codable, Hashable, Sendable {
        case value
        /// One row of another entity, and what happens to this row when that one is deleted.
        case reference(whenDeleted: DestinationDeletion)
        /// Rows in order.
        case list
        /// Values or rows without an order.
        case set
    }

    /// What happens to a row whose destination is deleted.
    package enum DestinationDeletion: Codable, Hashable, Sendable { case clear, deleteToo, refuse }

    package var kind: Kind
    package var isRequired: Bool
    /// What a row has that was made by a program without this property; nil if there is nothing to give.
    package var defaultValue: SyncValue?
    package var rule: MergeRule

    package init(
        _ kind: Kind = .value, isRequired: Bool = false, default defaultValue: SyncValue? = nil,
        rule: MergeRule = .laterEdit
    ) {
        self.kind = kind
        self.isRequired = isRequired
        self.defaultValue = defaultValue
        self.rule = rule
    }

    /// What a row without a value gets: the default, an empty collection, or null for what is optional.
    var initialValue: SyncValue? {
        if let defaultValue { return defaultValue }
        switch kind {
        case .list: return .list([])
        case .set: return .set([])
        case .value, .reference: return isRequired ? nil : .null
        }
    }
}

/// What becomes of a property that two sides have changed.
package enum MergeRule: Hashable, Sendable {
    /// The edit that was made later by the server's clock.
    case laterEdit
    /// The pushed value, or the server's.
    case mine, theirs
    /// Both differences are added to the former value.
    case sum
    case larger
    /// What is in either set, without what either side removed.
    case union
    /// Edits of a list, one after the other.
    case list
    /// The program's closure decides, on the device.
    case closure
}

/// Properties whose values no two rows share.
package struct UniqueRule: Hashable, Sendable {
    /// What becomes of a row whose values another row has.
    package enum WhenTaken: Hashable, Sendable {
        /// Both rows are one thing: the pushed row becomes the one that is there, and references follow.
        case join
        /// The program's closure gives the row other values, on the device.
        case rename
        /// The transaction is refused.
        case refuse
    }

    package var properties: [String]
    package var whenTaken: WhenTaken

    package init(_ properties: [String], whenTaken: WhenTaken) {
        self.properties = properties
        self.whenTaken = whenTaken
    }
}

/// What becomes of an edit of a row that another device has deleted.
package enum DeletedEditRule: Hashable, Sendable {
    /// The row stays deleted, and the edit goes to the journal.
    case deletionWins
    /// The row lives.
    case keepEdits
}

/// Where a row's scope is found.
package enum ScopeRule: Hashable, Sendable {
    case everybody
    /// The text in a property.
    case property(String)
    /// The scope of the row that a reference leads to.
    case owner(String)
    /// The row's own identifier.
    case identifier
}

/// Where a row's scope leads, as far as its own values say.
package enum FoundScope: Hashable, Sendable {
    case everybody
    case named(SyncScope)
    /// That of another row; nil for a row without an owner.
    case asOwner(RowID?)
}

extension SyncSchema {
    package func scope(of id: RowID, _ values: [String: SyncValue]) -> FoundScope {
        switch entities[id.entity]?.scope ?? .everybody {
        case .everybody: return .everybody
        case .identifier: return .named(SyncScope(id.key.string))
        case .property(let property):
            switch values[property] {
            case .text(let text): return .named(SyncScope(text.string))
            case .integer(let number): return .named(SyncScope(String(number)))
            default: return .everybody
            }
        case .owner(let property):
            if case .reference(let owner) = values[property] { return .asOwner(owner) }
            return .asOwner(nil)
        }
    }

    /// Whether rows of some entities belong to scopes.
    package var isScoped: Bool { entities.values.contains { $0.scope != .everybody } }

    /// The schema without scopes: everybody has all rows.
    package var withoutScopes: SyncSchema {
        SyncSchema(
            entities.mapValues { entity in
                var entity = entity
                entity.scope = .everybody
                return entity
            })
    }
}

/// The properties that a program knows, or that two programs both know.
package struct KnownProperties: Codable, Hashable, Sendable {
    package var kinds: [String: [String: SyncProperty.Kind]]

    package init(_ kinds: [String: [String: SyncProperty.Kind]]) { self.kinds = kinds }

    package func contains(_ property: String, of entity: String) -> Bool { kinds[entity]?[property] != nil }

    package func contains(_ entity: String) -> Bool { kinds[entity] != nil }

    /// The values that are known.
    package func part(of values: [String: SyncValue], in entity: String) -> [String: SyncValue] {
        guard let known = kinds[entity] else { return [:] }
        if values.keys.allSatisfy({ known[$0] != nil }) { return values }
        return values.filter { known[$0.key] != nil }
    }

    /// What both know. A property whose kind differs is not the same property.
    package func intersection(_ other: KnownProperties) -> KnownProperties {
        var common: [String: [String: SyncProperty.Kind]] = [:]
        for (entity, properties) in kinds {
            guard let others = other.kinds[entity] else { continue }
            common[entity] = properties.filter { others[$0.key] == $0.value }
        }
        return KnownProperties(common)
    }

    /// The properties that are here and not there.
    package func subtracting(_ other: KnownProperties) -> KnownProperties {
        var rest: [String: [String: SyncProperty.Kind]] = [:]
        for (entity, properties) in kinds {
            let others = other.kinds[entity]
            let missing = properties.filter { others?[$0.key] != $0.value }
            if !missing.isEmpty || others == nil { rest[entity] = missing }
        }
        return KnownProperties(rest)
    }

    package var isEmpty: Bool { kinds.isEmpty }
}

extension SyncSchema {
    /// The entities for which a program cannot make rows: they have required properties without a default that it does
    /// not know.
    package func unwritable(by known: KnownProperties) -> Set<String> {
        Set(
            entities.compactMap { name, entity in
                known.contains(name)
                    && entity.properties.contains { property, description in
                        description.initialValue == nil && !known.contains(property, of: name)
                    } ? name : nil
            })
    }
}

/// Merges two edits of one property. Pure.
package enum PropertyMerge {
    /// - Parameters:
    ///   - rule: the property's rule. With `.closure` this is what happens when the closure is not asked.
    ///   - old: the value that both sides began with; nil if both sides made the row.
    ///   - mine: the pushed value.
    ///   - theirs: the server's value.
    ///   - theyChanged: whether somebody else has changed the property since the pushing device saw it.
    ///   - mineIsLater: whether the pushed edit was made later than the server's, by the server's clock.
    /// - Returns: the value to keep.
    package static func merge(
        _ rule: MergeRule, old: SyncValue?, mine: SyncValue, theirs: SyncValue, theyChanged: Bool, mineIsLater: Bool
    ) -> SyncValue {
        if mine == theirs, rule != .sum { return theirs }
        switch rule {
        case .laterEdit, .closure: return theyChanged && !mineIsLater ? theirs : mine
        case .mine: return mine
        case .theirs: return theyChanged ? theirs : mine
        case .larger: return isLarger(mine, than: theirs) || !theyChanged ? mine : theirs
        case .sum:
            if let sum = sum(old: old, mine: mine, theirs: theirs) { return sum }
        case .union:
            if case .set(let myValues) = mine, case .set(let theirValues) = theirs {
                var oldValues: Set<SyncValue> = []
                if case .set(let values) = old { oldValues = values }
                return .set(
                    theirValues.subtracting(oldValues.subtracting(myValues)).union(myValues.subtracting(oldValues)))
            }
        case .list:
            if case .list(let myIDs) = mine, case .list(let theirIDs) = theirs {
                var oldIDs: [RowID] = []
                if case .list(let ids) = old { oldIDs = ids }
                return .list(ListMerge.merge(old: oldIDs, mine: myIDs, theirs: theirIDs))
            }
        }
        // A value that the rule does not fit, such as null: the later edit.
        return theyChanged && !mineIsLater ? theirs : mine
    }

    /// The server's number with this side's difference, or nil if one is not a number or the sum has no place in one.
    private static func sum(old: SyncValue?, mine: SyncValue, theirs: SyncValue) -> SyncValue? {
        switch (old ?? .null, mine, theirs) {
        case (.null, .integer(let mine), .integer(let theirs)):
            // Rows that both sides made: seeds of one value are one value.
            return .integer(max(mine, theirs))
        case (.integer(let old), .integer(let mine), .integer(let theirs)):
            let (difference, overflows) = mine.subtractingReportingOverflow(old)
            let (sum, overflowsToo) = theirs.addingReportingOverflow(difference)
            return overflows || overflowsToo ? nil : .integer(sum)
        case (.double(let old), .double(let mine), .double(let theirs)):
            return .double(ExactDouble(theirs.value + (mine.value - old.value)))
        default: return nil
        }
    }

    private static func isLarger(_ one: SyncValue, than other: SyncValue) -> Bool {
        switch (one, other) {
        case (_, .null): one != .null
        case (.integer(let one), .integer(let other)): one > other
        case (.double(let one), .double(let other)): one.value > other.value
        case (.date(let one), .date(let other)): one > other
        case (.text(let one), .text(let other)): other < one
        case (.bool(let one), .bool(let other)): one && !other
        default: false
        }
    }
}

/// Merges two edits of one list of distinct members. Pure.
///
/// What either side removed is gone. Members that a side inserted or moved form runs; a run stays together and follows
/// the member that it followed on its side. At one place the other side's run comes first. Each member is there once;
/// a member that both moved is where this side put it.
package enum ListMerge {
    /// - Parameters:
    ///   - old: the list that both sides began with; empty if there was none.
    ///   - mine: the list as this side left it.
    ///   - theirs: the list as it is on the server.
    /// - Returns: theirs, with the edits that lead from old to mine. It takes time for each member of the three lists.
    package static func merge<Member: Hashable>(old: [Member], mine: [Member], theirs: [Member]) -> [Member] {
        if mine == theirs || mine == old { return theirs }
        if theirs == old { return mine }
        let oldMembers = Set(old)
        let myMembers = Set(mine)
        let theirMembers = Set(theirs)
        let stayedHere = unmoved(in: mine, from: old)
        let stayedThere = unmoved(in: theirs, from: old)

        // My runs, by the member that each follows: one that I did not move and that they still have.
        var firstRun: [Member] = []
        var runs: [Member: [Member]] = [:]
        var anchor: Member?
        for member in mine {
            if stayedHere.contains(member) {
                if theirMembers.contains(member) { anchor = member }
            } else if !oldMembers.contains(member) || theirMembers.contains(member) {
                if let anchor { runs[anchor, default: []].append(member) } else { firstRun.append(member) }
            }
        }

        var result: [Member] = []
        result.reserveCapacity(theirs.count + mine.count)
        // A run waits until theirs at the same place has ended.
        var waiting = firstRun
        for member in theirs {
            let isRemoved = oldMembers.contains(member) && !myMembers.contains(member)
            let isMoved = myMembers.contains(member) && !stayedHere.contains(member)
            if stayedThere.contains(member) {
                result += waiting
                waiting = []
            }
            if isRemoved || isMoved { continue }
            result.append(member)
            if let run = runs[member] { waiting += run }
        }
        result += waiting
        return result
    }

    /// The members of a list that have kept their order since it was another list: the longest increasing sequence of
    /// their former places.
    private static func unmoved<Member: Hashable>(in list: [Member], from old: [Member]) -> Set<Member> {
        var places: [Member: Int] = [:]
        for (place, member) in old.enumerated() { places[member] = place }
        let kept = list.compactMap { member in places[member].map { (member, $0) } }
        // The last members of the best sequences by length, and what comes before each member.
        var ends: [Int] = []
        var before: [Int?] = []
        for (index, item) in kept.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if kept[ends[middle]].1 < item.1 { low = middle + 1 } else { high = middle }
            }
            before.append(low == 0 ? nil : ends[low - 1])
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: Set<Member> = []
        var next = ends.last
        while let index = next {
            result.insert(kept[index].0)
            next = before[index]
        }
        return result
    }
}
