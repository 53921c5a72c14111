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
