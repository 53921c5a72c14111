import Foundation

/// Models in sections, as a list on a screen shows them. It is a value: any thread can make it, and any list view can
/// show it.
///
/// ```swift
/// let list = SectionedList(people, by: { String($0.name.prefix(1)) })
/// list.sections.count
/// list[IndexPath(indexes: [0, 2])]           // the third person of the first section
/// let changes = list.changes(from: former)   // what a table view has to do
/// ```
public struct SectionedList<Model: CoreModel>: Sendable {
    /// Models under one heading.
    public struct Section: Sendable {
        /// The heading; empty for a list without sections.
        public let name: String
        /// The models, in order.
        public internal(set) var models: [Model]
    }

    /// The sections, in the order of their first models.
    public let sections: [Section]

    /// A list of models.
    ///
    /// - Parameters:
    ///   - models: the models, in the order that they shall have within their sections. No two have the same
    ///     identifier.
    ///   - section: gives a model's heading. Sections are in the order of their first models.
    public init(_ models: [Model], by section: (Model) -> String = { _ in "" }) {
        var sections: [Section] = []
        var places: [String: Int] = [:]
        for model in models {
            let name = section(model)
            if let place = places[name] {
                sections[place].models.append(model)
            } else {
                places[name] = sections.count
                sections.append(Section(name: name, models: [model]))
            }
        }
        self.sections = sections
    }

    init(sections: [Section]) { self.sections = sections }

    /// How many models there are.
    public var count: Int { sections.reduce(0) { $0 + $1.models.count } }

    /// All models, section by section.
    public var models: [Model] { sections.flatMap(\.models) }

    /// The model at a place: a section's index and a row's.
    ///
    /// - Parameter indexPath: the place, in an existing section.
    /// - Returns: the model.
    public subscript(indexPath: IndexPath) -> Model { sections[indexPath[0]].models[indexPath[1]] }

    /// The place of a model.
    ///
    /// - Parameter id: the model's identifier.
    /// - Returns: the section's index and the row's; nil if the model is not in the list.
    public func indexPath(of id: Model.ID) -> IndexPath? {
        let key = Model.listKey(of: id)
        for (section, content) in sections.enumerated() {
            if let row = content.models.firstIndex(where: { $0.id == id && Model.listKey(of: $0.id) == key }) {
                return IndexPath(indexes: [section, row])
            }
        }
        return nil
    }
}

/// A list as it is now, and how it differs from the one before.
public struct ListUpdate<Model: CoreModel>: Sendable {
    /// The list.
    public let list: SectionedList<Model>
    /// The difference from the list before; from an empty list at first.
    public let changes: ListChanges
}

extension LiveQuery {
    /// The same as a list in sections, with the changes for a list view each time.
    ///
    /// ```swift
    /// for try await update in manager.observe(Book.self, sortedBy: .ascending(\.title)).sections(by: { $0.genre }) {
    ///     table.apply(update)
    /// }
    /// ```
    ///
    /// - Parameter section: gives a model's heading.
    /// - Returns: the lists, the current one first.
    public func sections<Model: CoreModel>(
        by section: @escaping @Sendable (Model) -> String = { _ in "" }
    ) -> ListUpdates<Model> where State == [Model] { ListUpdates(query: self, section: section) }

    /// How an observed list in sections changes.
    public struct ListUpdates<Model: CoreModel>: AsyncSequence, Sendable where State == [Model] {
        /// A list as it is now, and how it differs from the one before.
        public typealias Element = ListUpdate<Model>

        let query: LiveQuery<[Model]>
        let section: @Sendable (Model) -> String

        /// Starts to observe.
        public func makeAsyncIterator() -> Iterator {
            Iterator(states: query.makeAsyncIterator(), section: section)
        }

        /// The lists, one after the other.
        public struct Iterator: AsyncIteratorProtocol {
            var states: LiveQuery<[Model]>.Iterator
            let section: @Sendable (Model) -> String
            var former: Reading<[Model]>?
            var sections = FollowedSections<Model>()

            /// The next list; nil once the task is cancelled.
            ///
            /// - Throws: what fetching throws.
            public mutating func next() async throws -> ListUpdate<Model>? {
                guard let reading = try await states.nextReading() else { return nil }
                defer { former = reading }
                if let step = reading.step, step.former === former?.mark {
                    let changes = sections.follow(step.edit, to: reading.state, by: section)
                    return ListUpdate(list: sections.list, changes: changes)
                }
                let list = sections.list
                sections.replace(with: reading.state, by: section)
                return ListUpdate(list: sections.list, changes: sections.list.changes(from: list))
            }
        }
    }
}
