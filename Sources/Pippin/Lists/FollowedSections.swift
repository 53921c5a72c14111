import Foundation

/// A list in sections that follows its models from state to state: only what a ``ListEdit`` names is looked at,
/// everything else is taken from the former list.
///
/// Every step gives the same result as ``SectionedList/init(_:by:)`` and ``SectionedList/changes(from:)``, which take
/// time for all models. Pure, except for the closure that gives headings.
struct FollowedSections<Model: CoreModel>: Sendable {
    private(set) var list = SectionedList<Model>([])
    /// The headings that have occurred, by their numbers here: those in use, and not many more.
    private(set) var names: [String] = []
    private var numbers: [String: Int32] = [:]
    /// The number of the heading of each model in the flat list.
    private var headings: [Int32] = []

    /// An empty list.
    init() {}

    /// Starts again with other models.
    mutating func replace(with models: [Model], by section: (Model) -> String) {
        list = SectionedList(models, by: section)
        (names, numbers) = ([], [:])
        headings = models.map { number(of: section($0)) }
    }

    /// Applies an edit.
    ///
    /// - Parameters:
    ///   - edit: how the flat list became `models`.
    ///   - models: the flat list after the edit.
    ///   - section: gives a model's heading.
    /// - Returns: how the list with sections changed.
    mutating func follow(_ edit: ListEdit, to models: [Model], by section: (Model) -> String) -> ListChanges {
        forgetOldHeadings()
        let origins = Self.origins(edit, count: models.count, of: headings.count)
        var present = origins.map { $0 < 0 ? -1 : headings[Int($0)] }
        for place in edit.insertions + edit.updates + edit.moves.map(\.to) {
            present[place] = number(of: section(models[place]))
        }
        let (former, now) = (Layout(headings, names.count), Layout(present, names.count))
        var touched: Set<Int32> = []
        for place in edit.removals + edit.moves.map(\.from) { touched.insert(headings[place]) }
        for place in edit.insertions + edit.updates + edit.moves.map(\.to) {
            touched.insert(present[place])
            if origins[place] >= 0 { touched.insert(headings[Int(origins[place])]) }
        }
        let changes = Self.changes(
            from: former, headings, to: now, present, origins: origins, updates: edit.updates, touched: touched)
        var contents: [Int32: [Model]] = [:]
        for place in present.indices where touched.contains(present[place]) {
            contents[present[place], default: []].append(models[place])
        }
        list = SectionedList(
            sections: now.order.map { heading in
                contents[heading].map { .init(name: names[Int(heading)], models: $0) }
                    ?? list.sections[Int(former.section[Int(heading)])]
            })
        headings = present
        return changes
    }

    private mutating func number(of name: String) -> Int32 {
        if let known = numbers[name] { return known }
        let number = Int32(names.count)
        names.append(name)
        numbers[name] = number
        return number
    }

    /// Renumbers the headings when most of the known ones have no models left, so that a list whose headings change all
    /// the time does not keep them all.
    private mutating func forgetOldHeadings() {
        guard names.count > 2 * list.sections.count + 64 else { return }
        let former = names
        (names, numbers) = ([], [:])
        headings = headings.map { number(of: former[Int($0)]) }
    }

    /// For each place of a list, the place that its model had before; -1 for a new one.
    private static func origins(_ edit: ListEdit, count: Int, of formerCount: Int) -> [Int32] {
        var origins = [Int32](repeating: -2, count: count)
        for place in edit.insertions { origins[place] = -1 }
        for move in edit.moves { origins[move.to] = Int32(move.from) }
        var isLeaving = [Bool](repeating: false, count: formerCount)
        for place in edit.removals + edit.moves.map(\.from) { isLeaving[place] = true }
        var next = 0
        for place in origins.indices where origins[place] == -2 {
            while next < formerCount, isLeaving[next] { next += 1 }
            origins[place] = next < formerCount ? Int32(next) : -1
            next += 1
        }
        return origins
    }

    /// The section of each heading, and the row of each model in its section.
    private struct Layout {
        /// The headings in the order of their first models.
        private(set) var order: [Int32] = []
        /// The section of each heading; -1 for one without models.
        private(set) var section: [Int32]
        private(set) var rows: [Int32]

        init(_ headings: [Int32], _ names: Int) {
            section = [Int32](repeating: -1, count: names)
            var counts = [Int32](repeating: 0, count: names)
            rows = [Int32](repeating: 0, count: headings.count)
            for place in headings.indices {
                let heading = Int(headings[place])
                if counts[heading] == 0 {
                    section[heading] = Int32(order.count)
                    order.append(headings[place])
                }
                rows[place] = counts[heading]
                counts[heading] += 1
            }
        }

        func path(_ place: Int, _ headings: [Int32]) -> IndexPath {
            IndexPath(indexes: [Int(section[Int(headings[place])]), Int(rows[place])])
        }
    }

    private static func changes(
        from former: Layout, _ headings: [Int32], to now: Layout, _ present: [Int32], origins: [Int32], updates: [Int],
        touched: Set<Int32>
    ) -> ListChanges {
        var changes = ListChanges()
        let known = now.order.indices.filter { former.section[Int(now.order[$0])] >= 0 }
        let from = known.map { Int(former.section[Int(now.order[$0])]) }
        changes.insertedSections = IndexSet(integersIn: now.order.indices)
        changes.removedSections = IndexSet(integersIn: former.order.indices)
        var survives = [Bool](repeating: false, count: now.section.count)
        for ((old, new), stays) in zip(zip(from, known), ascendingPart(of: from)) where stays {
            changes.removedSections.remove(old)
            changes.insertedSections.remove(new)
            survives[Int(now.order[new])] = true
        }
        // A section that nothing touched, and that keeps its position among the others, has no changes.
        var targets = [Int32](repeating: -1, count: headings.count)
        for place in origins.indices where origins[place] >= 0 { targets[Int(origins[place])] = Int32(place) }
        for place in headings.indices where survives[Int(headings[place])] && touched.contains(headings[place]) {
            let target = Int(targets[place])
            if target < 0 || !survives[Int(present[target])] { changes.removals.append(former.path(place, headings)) }
        }
        changes.removals.sort()
        let areUpdated = Set(updates)
        var members: [Int32: [Int]] = [:]
        for place in present.indices where survives[Int(present[place])] && touched.contains(present[place]) {
            members[present[place], default: []].append(place)
        }
        for heading in now.order {
            guard let places = members[heading] else { continue }
            // By former place; nil for a model that comes into the section, or whose former section is removed.
            let before = places.map { place -> Int? in
                let origin = Int(origins[place])
                return origin >= 0 && survives[Int(headings[origin])] ? origin : nil
            }
            let stayed = before.compactMap { origin in origin.flatMap { headings[$0] == heading ? $0 : nil } }
            var isInOrder = ascendingPart(of: stayed)[...]
            for (place, origin) in zip(places, before) {
                let path = now.path(place, present)
                guard let origin else {
                    changes.insertions.append(path)
                    continue
                }
                let stays = headings[origin] == heading && isInOrder.popFirst() == true
                if !stays { changes.moves.append(.init(from: former.path(origin, headings), to: path)) }
                if areUpdated.contains(place) { changes.updates.append(path) }
            }
        }
        return changes
    }
}
