import { isStorableText } from '@wts/contracts';
import {
  GraphQLError,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
  isTypeSubTypeOf,
  Kind,
  specifiedRules,
  typeFromAST,
  VariablesInAllowedPositionRule,
  type ConstValueNode,
  type GraphQLInputType,
  type GraphQLType,
  type ValidationContext,
  type ValidationRule,
  type VariableDefinitionNode,
} from 'graphql';

/**
 * The rules of GraphQL, with two differences: a variable of the type `String` may be used where an `ID` is expected, because
 * clients of similar services declare ids so, and texts that PostgreSQL cannot store are refused. Introspection is allowed, because
 * the schema is public; one of the rules bounds its depth. Keeps graphql.schema.introspection.
 */
export const VALIDATION_RULES: readonly ValidationRule[] = [
  ...specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule),
  variablesInAllowedPosition,
  storableTexts,
];

/** The rule of the specification ("All Variable Usages Are Allowed"), for which `String` is an `ID`. */
function variablesInAllowedPosition(context: ValidationContext): ReturnType<ValidationRule> {
  return {
    OperationDefinition: {
      leave(operation) {
        const definitions = new Map((operation.variableDefinitions ?? []).map((one) => [one.variable.name.value, one]));
        for (const { node, type, defaultValue, parentType } of context.getRecursiveVariableUsages(operation)) {
          const definition = definitions.get(node.name.value);
          if (definition === undefined || !type) continue;
          const declared = typeFromAST(context.getSchema(), definition.type);
          if (declared === undefined) continue;
          const isOneOf = isInputObjectType(parentType) && parentType.isOneOf;
          const where = { nodes: [definition, node] };
          if (!isAllowed(context, { declared, definition, type, hasDefault: defaultValue !== undefined })) {
            const message = `Variable "$${node.name.value}" of type "${String(declared)}" used in position expecting type "${String(type)}".`;
            context.reportError(new GraphQLError(message, where));
          } else if (isOneOf && !isNonNullType(declared)) {
            const message = `Variable "$${node.name.value}" is of type "${String(declared)}" but must be non-nullable to be used for OneOf Input Object "${String(parentType)}".`;
            context.reportError(new GraphQLError(message, where));
          }
        }
      },
    },
  };
}

interface Usage {
  readonly declared: GraphQLType;
  readonly definition: VariableDefinitionNode;
  readonly type: GraphQLInputType;
  /** The argument or field has a default value. */
  readonly hasDefault: boolean;
}

function isAllowed(context: ValidationContext, { declared, definition, type, hasDefault }: Usage): boolean {
  const schema = context.getSchema();
  const isSubType = (wanted: GraphQLInputType): boolean =>
    isTypeSubTypeOf(schema, declared, wanted) || isTypeSubTypeOf(schema, declared, textForId(wanted));
  if (!isNonNullType(type) || isNonNullType(declared)) return isSubType(type);
  return (hasDefault || hasValue(definition.defaultValue)) && isSubType(type.ofType);
}

function hasValue(value: ConstValueNode | undefined): boolean {
  return value !== undefined && value.kind !== Kind.NULL;
}

/** The type with `String` in the place of `ID`. */
function textForId(type: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(textForId(type.ofType) as GraphQLList<GraphQLInputType>);
  if (isListType(type)) return new GraphQLList(textForId(type.ofType));
  return type === GraphQLID ? GraphQLString : type;
}

function storableTexts(context: ValidationContext): ReturnType<ValidationRule> {
  return {
    StringValue(node) {
      if (isStorableText(node.value)) return;
      context.reportError(new GraphQLError('A text must not contain a NUL character.', { nodes: node }));
    },
  };
}
