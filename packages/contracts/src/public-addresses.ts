/**
 * The blocks of public addresses, and what each contains that is not public: where services may connect to on behalf of others, and
 * what a network policy allows, which knows blocks only.
 */
export const PUBLIC_BLOCKS = [
  {
    cidr: '0.0.0.0/0',
    // The special-purpose registry of IANA, and one address that is public in form only.
    except: [
      '0.0.0.0/8',
      '10.0.0.0/8',
      '100.64.0.0/10',
      '127.0.0.0/8',
      '168.63.129.16/32', // Azure's platform, reachable from every machine there
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/4',
      '240.0.0.0/4',
    ],
  },
  {
    // The one IPv6 block that holds public addresses. All forms that carry an IPv4 address below ::/8 or 64:ff9b::/16 are outside.
    cidr: '2000::/3',
    // Teredo and others in 2001::/23, 6to4, documentation.
    except: ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  },
] as const;
