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
