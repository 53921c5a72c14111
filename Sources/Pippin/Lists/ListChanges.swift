import Foundation

/// How one ``SectionedList`` became another, in the terms of list views: removals use indexes of the former list,
/// everything else uses indexes of the new one.
///
/// Rows of sections that are inserted or removed are not listed one by one. A row that moved and changed is both a move
/// and an update.
public struct ListChanges: Sendable, Equatable {
    /// A row that moved.
    public struct Move: Sendable, Equatable {
        /// The place in the former list.
        public let from: IndexPath
        /// The place in the new list.
        public let to: IndexPath

        package init(from: IndexPath, to: IndexPath) {
            self.from = from
            self.to = to
        }
    }

    /// The former indexes of removed sections.
    public package(set) var removedSections = IndexSet()
    /// The new indexes of inserted sections.
    public package(set) var insertedSections = IndexSet()
    /// The former places of removed rows.
    public package(set) var removals: [IndexPath] = []
    /// The new places of inserted rows.
    public package(set) var insertions: [IndexPath] = []
    /// The rows that stayed, and have another place relative to each other or are in another section.
    public package(set) var moves: [Move] = []
    /// The new places of rows that stayed and have other values.
    public package(set) var updates: [IndexPath] = []

    /// Whether there are no changes.
    public var isEmpty: Bool { self == ListChanges() }

    /// No changes.
    public init() {}
}

extension SectionedList {
    /// The changes that turn another list into this one.
    ///
    /// - Parameter former: the other list.
    /// - Returns: the removals, insertions, moves and updates, ready for a list view.
    public func changes(from former: SectionedList) -> ListChanges {
        var changes = ListChanges()
        // A section that changed its position among the others is removed and inserted.
        let formerSections = Dictionary(
            uniqueKeysWithValues: former.sections.enumerated().map { ($1.name, $0) })
        let known = sections.indices.filter { formerSections[sections[$0].name] != nil }
        let from = known.map { formerSections[sections[$0].name] ?? 0 }
        changes.insertedSections = IndexSet(integersIn: sections.indices)
        changes.removedSections = IndexSet(integersIn: former.sections.indices)
        for ((old, new), stays) in zip(zip(from, known), ascendingPart(of: from)) where stays {
            changes.removedSections.remove(old)
            changes.insertedSections.remove(new)
        }
        let before = former.places(without: changes.removedSections)
        let after = places(without: changes.insertedSections)
        for (section, content) in former.sections.enumerated() where !changes.removedSections.contains(section) {
            for (row, model) in content.models.enumerated() where after[Model.listKey(of: model.id)] == nil {
                changes.removals.append(IndexPath(indexes: [section, row]))
            }
        }
        let survivors = former.sections.indices.filter { !changes.removedSections.contains($0) }
        let stayed = sections.indices.filter { !changes.insertedSections.contains($0) }
        for (old, new) in zip(survivors, stayed) {
            add(new, from: old, of: former, before, to: &changes)
        }
        return changes
    }

    /// Adds the changes of a section that was there before.
    private func add(
        _ section: Int, from formerSection: Int, of former: SectionedList, _ before: [RecordKey: IndexPath],
        to changes: inout ListChanges
    ) {
        let kept = { (place: IndexPath?) in place?[0] == formerSection }
        let keys = sections[section].models.map { Model.listKey(of: $0.id) }
        let stayed = keys.filter { kept(before[$0]) }
        let isInOrder = ascendingPart(of: stayed.map { before[$0]?[1] ?? 0 })
        let moved = Set(zip(stayed, isInOrder).filter { !$1 }.map(\.0))
        for (row, model) in sections[section].models.enumerated() {
            let place = IndexPath(indexes: [section, row])
            guard let old = before[keys[row]] else {
                changes.insertions.append(place)
                continue
            }
            if !kept(old) || moved.contains(keys[row]) { changes.moves.append(ListChanges.Move(from: old, to: place)) }
            if !areEqual(former[old], model) { changes.updates.append(place) }
        }
    }

    private func places(without left: IndexSet) -> [RecordKey: IndexPath] {
        var places: [RecordKey: IndexPath] = [:]
        for (section, content) in sections.enumerated() where !left.contains(section) {
            for (row, model) in content.models.enumerated() {
                let key = Model.listKey(of: model.id)
                if places[key] == nil { places[key] = IndexPath(indexes: [section, row]) }
            }
        }
        return places
    }
}
