import PippinSync

/// What all devices have counted.
public struct Counter: CoreModel, Equatable {
    /// Its identifier.
    public let id: String
    /// How much.
    public var total = 0

    /// A counter that has counted nothing.
    public init(id: String) { self.id = id }

    /// What several counted is added up.
    public static var schema: Schema<Counter> { Schema(.merge(\.total, .sum)) }
}

/// What one device has counted once.
public struct Entry: CoreModel, Equatable {
    /// Its identifier.
    public let id: String
    /// The device.
    public var author: String

    /// An entry of a device.
    public init(id: String, author: String) { (self.id, self.author) = (id, author) }
}

/// A row of six columns.
public struct Line: CoreModel, Equatable {
    /// Its identifier.
    public let id: Int
    /// A text.
    public var title: String
    /// Another one.
    public var note: String
    /// A number.
    public var count: Int
    /// A fraction.
    public var weight: Double
    /// A date.
    public var date: Date
    /// The line that it follows.
    public var former: Former?

    /// A line with values that follow from its number.
    public init(_ number: Int, former: Former? = nil) {
        (id, title, note) = (number, "Line \(number)", "A note about line \(number)")
        (count, weight, date) = (number * 3, Double(number) / 7, Date(timeIntervalSince1970: Double(number)))
        self.former = former
    }
}

/// What a line refers to.
public struct Former: CoreModel, Equatable {
    /// Its identifier.
    public let id: Int
    /// A text.
    public var title: String

    /// A model with a title.
    public init(id: Int, title: String) { (self.id, self.title) = (id, title) }
}
