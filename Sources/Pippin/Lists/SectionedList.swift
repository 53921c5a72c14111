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
        for (section, content) in sections.enumerated() {
            if let row = content.models.firstIndex(where: { $0.id == id }) {
                return IndexPath(indexes: [section, row])
            }
        }
        return nil
    }
}
