extension SQLFragment: ExpressibleByStringInterpolation {
    @inline(never)
    package init(stringLiteral text: String) { segments = text.isEmpty ? [] : [.text(text)] }

    package init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// A plain string cannot be interpolated: its kind must be given.
    ///
    /// Nothing is inlined: statements are generated once, from hundreds of such strings, and every inlined copy costs
    /// compile time.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var segments: [Segment] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        @inline(never)
        package mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { segments.append(.text(text)) }
        }

        @inline(never)
        package mutating func appendInterpolation(_ fragment: SQLFragment) { segments += fragment.segments }

        @inline(never)
        package mutating func appendInterpolation(_ column: SQLColumn) { segments.append(.column(column)) }

        /// The name of a table, a column, an index.
        @inline(never)
        package mutating func appendInterpolation(name: String) { segments.append(.identifier(name)) }

        /// One of the columns that every row has.
        @inline(never)
        package mutating func appendInterpolation(_ name: SQLColumn.Name, of alias: String? = nil) {
            segments.append(.column(SQLColumn(name, of: alias)))
        }

        @inline(never)
        package mutating func appendInterpolation(binding: SQLBinding) { segments.append(.parameter(binding)) }

        @inline(never)
        package mutating func appendInterpolation(literal: SQLValue) { segments.append(.literal(literal)) }

        @inline(never)
        package mutating func appendInterpolation(text: String) { segments.append(.literal(.text(text))) }

        @inline(never)
        package mutating func appendInterpolation(number: some BinaryInteger) {
            segments.append(.text(String(number)))
        }

        /// A keyword, a sign, or a name that the generator invented: never anything from a model or a predicate.
        @inline(never)
        package mutating func appendInterpolation(word: String) { segments.append(.text(word)) }
    }
}
