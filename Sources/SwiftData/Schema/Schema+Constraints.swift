import CoreData

extension Schema {
    /// Properties of a model class that are unique together, as `#Unique` declares them.
    ///
    /// Attributes and to-one relationships can be in a constraint, arrays cannot.
    public final class Unique<T>: SchemaProperty, CustomDebugStringConvertible, Hashable, Codable
    where T: PersistentModel {
        /// `Unique`.
        public var name: String = "Unique"
        /// `Unique`.
        public var originalName: String = "Unique"
        /// The model class.
        public var valueType: any Any.Type = T.self
        /// Whether it is unique: `true`.
        public var isUnique: Bool { true }
        /// The properties of each constraint.
        public let constraints: [[PartialKeyPath<T>]]

        /// Creates constraints.
        ///
        /// - Parameter constraints: the properties of each.
        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

        /// The names under which constraints are encoded.
        public enum CodingKeys: CodingKey {
            /// The names of the properties of each constraint.
            case constraints
        }

        /// Decodes constraints, from the names of their properties.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a name that the model does not have.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            constraints = try container.decode([[String]].self, forKey: .constraints).map {
                try ModelType.of(T.self).keyPaths(named: $0)
            }
        }

        /// Encodes the names of the properties.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(propertyNames, forKey: .constraints)
        }

        /// Whether both have the same constraints.
        ///
        /// - Parameters:
        ///   - lhs: constraints.
        ///   - rhs: other ones.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.Unique<T>, rhs: Schema.Unique<T>) -> Bool {
            lhs.constraints == rhs.constraints
        }

        /// Hashes the constraints.
        ///
        /// - Parameter hasher: the hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }

        /// The names of the properties of each constraint.
        public var debugDescription: String { "unique \(propertyNames)" }
    }

    /// The indexes of a model class's table, as `#Index` declares them.
    public final class Index<T>: SchemaProperty, CustomDebugStringConvertible, Hashable, Codable
    where T: PersistentModel {
        /// The kinds of indexes.
        public enum Types<P> where P: PersistentModel {
            /// For comparisons and sorting.
            case binary([PartialKeyPath<P>])
            /// For locations.
            case rtree([PartialKeyPath<P>])

            var keyPaths: [PartialKeyPath<P>] {
                switch self {
                case .binary(let keyPaths), .rtree(let keyPaths): keyPaths
                }
            }

            var isRTree: Bool { if case .rtree = self { true } else { false } }
        }

        /// `Index`.
        public var name: String = "Index"
        /// `Index`.
        public var originalName: String = "Index"
        /// The model class.
        public var valueType: any Any.Type = T.self
        /// Whether it is unique: `false`.
        public var isUnique: Bool { false }
        /// The indexes.
        public let indices: [Schema.Index<T>.Types<T>]

        /// Creates indexes.
        ///
        /// - Parameter indices: the indexes.
        public init(_ indices: Schema.Index<T>.Types<T>...) { self.indices = indices }

        /// Creates indexes for comparisons and sorting.
        ///
        /// - Parameter binaryIndices: the properties of each.
        public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }

        /// The names under which indexes are encoded.
        public enum CodingKeys: CodingKey {
            /// The names of the properties of each index, after its kind.
            case indices
        }

        /// Decodes indexes, from the names of their properties.
        ///
        /// - Parameter decoder: the decoder.
        /// - Throws: the errors of decoding, and one for a name that the model does not have.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            indices = try container.decode([[String]].self, forKey: .indices).map { names in
                let keyPaths = try ModelType.of(T.self).keyPaths(named: Array(names.dropFirst())) as [PartialKeyPath<T>]
                return names.first == "rtree" ? .rtree(keyPaths) : .binary(keyPaths)
            }
        }

        /// Encodes the names of the properties.
        ///
        /// - Parameter encoder: the encoder.
        /// - Throws: the errors of encoding.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let coded = zip(indices, propertyNames).map { [$0.isRTree ? "rtree" : "binary"] + $1 }
            try container.encode(coded, forKey: .indices)
        }

        /// Whether both have the same indexes.
        ///
        /// - Parameters:
        ///   - lhs: indexes.
        ///   - rhs: other ones.
        /// - Returns: `true` if they are.
        public static func == (lhs: Schema.Index<T>, rhs: Schema.Index<T>) -> Bool {
            lhs.indices.map(\.keyPaths) == rhs.indices.map(\.keyPaths)
                && lhs.indices.map(\.isRTree) == rhs.indices.map(\.isRTree)
        }

        /// Hashes the properties of the indexes.
        ///
        /// - Parameter hasher: the hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(indices.map(\.keyPaths)) }

        /// The names of the properties of each index.
        public var debugDescription: String { "index \(propertyNames)" }
    }
}

/// What names properties of a model class together.
protocol PropertyGroups {
    /// The key paths of each group.
    var groups: [[AnyKeyPath]] { get }
    /// Whether the values of a group are unique.
    var isConstraint: Bool { get }
    /// Whether a group is an index of locations.
    func isRTree(_ index: Int) -> Bool
}

extension Schema.Unique: PropertyGroups {
    var groups: [[AnyKeyPath]] { constraints }
    var isConstraint: Bool { true }
    func isRTree(_ index: Int) -> Bool { false }
    private var propertyNames: [[String]] { names(of: groups, in: T.self) }
}

extension Schema.Index: PropertyGroups {
    var groups: [[AnyKeyPath]] { indices.map(\.keyPaths) }
    var isConstraint: Bool { false }
    func isRTree(_ index: Int) -> Bool { indices[index].isRTree }
    private var propertyNames: [[String]] { names(of: groups, in: T.self) }
}

/// The names of properties; one that no property has is the key path's text.
private func names(of groups: [[AnyKeyPath]], in type: any PersistentModel.Type) -> [[String]] {
    groups.map { $0.map { ModelType.of(type).name(of: $0) ?? "\($0)" } }
}
