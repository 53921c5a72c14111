import PostgresConnection

/// A destination of values: an array, a row of `COPY`, the parameters of a statement.
protocol ValueSink {
    mutating func append(_ value: some BinaryValue)
    mutating func appendNull()
}

extension PostgresArray: ValueSink {}
extension CopyWriter: ValueSink {}
extension CopyRows: ValueSink {}

/// The parameters of a statement, each of the type that its column has.
struct ParameterSink: ValueSink {
    var parameters = PostgresParameters()
    /// The type of the next value, used if that is null.
    var type = PostgresType.unknown

    mutating func append(_ value: some BinaryValue) { parameters.append(value) }
    mutating func appendNull() { parameters.appendNull(type) }
}
